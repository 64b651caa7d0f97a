package lines_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// tallies reads a source to its end and returns what it said of each file, and all faults.
func tallies(s *lines.Source) (sums []lines.Tally, faults []*lines.Fault) {
	for b := range s.Read(context.Background()) {
		faults = append(faults, b.Faults...)
		if b.Ended != nil {
			sums = append(sums, *b.Ended)
		}
		b.Release()
	}
	return sums, faults
}

const (
	otherRequest = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a","objectRef":{"resource":"pods","subresource":"log"}}`
	noPID        = `{"hostname":"n1","time":"2026-11-21T04:10:00Z","output_fields":{"user.name":"root"}}`
)

func TestTally(t *testing.T) {
	t.Run("ATT-15 however a file is cut into chunks, each of its lines is counted once, and the next file's anew", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var files []lines.Opener
			var want []lines.Tally
			for f := range rapid.IntRange(1, 4).Draw(t, "files") {
				sum := lines.Tally{File: fmt.Sprint("f", f)}
				var text strings.Builder
				text.WriteString(event(0) + "\n") // shows the format
				sum.Used++
				for range rapid.IntRange(0, 3000).Draw(t, "lines") {
					switch rapid.IntRange(0, 2).Draw(t, "kind") {
					case 0:
						text.WriteString(event(1) + "\n")
						sum.Used++
					case 1:
						text.WriteString("hunter2\n")
						sum.Faulted++
					case 2:
						text.WriteString("\n")
					}
				}
				files, want = append(files, opener(sum.File, text.String())), append(want, sum)
			}
			sums, faults := tallies(&lines.Source{Files: files, Live: rapid.Bool().Draw(t, "live"), Workers: rapid.IntRange(1, 4).Draw(t, "workers")})
			faulted := 0
			for _, sum := range want {
				faulted += sum.Faulted
			}
			if fmt.Sprint(sums) != fmt.Sprint(want) || len(faults) != faulted {
				t.Fatalf("tallies %v, %d faults, want %v, %d", sums, len(faults), want, faulted)
			}
		})
	})
	t.Run("ATT-15 a decoder that does not say why it ignores a line has it counted all the same", func(t *testing.T) {
		quiet := func([]byte, *attribution.Batch) error { return nil }
		sums, faults := tallies(&lines.Source{Files: []lines.Opener{opener("x", "a\nb\n")}, Decode: quiet})
		if len(sums) != 1 || sums[0].Ignored.Other != 2 || len(faults) != 1 || !errors.Is(faults[0], lines.ErrNothingUsed) {
			t.Errorf("tallies %v, faults %v", sums, faults)
		}
	})
	t.Run("ATT-15 a file that cannot be opened or read has a tally, and one fault by its error", func(t *testing.T) {
		broken := lines.Opener{Name: "none", Open: func() (io.ReadCloser, error) { return nil, io.ErrClosedPipe }}
		sums, faults := tallies(&lines.Source{Files: []lines.Opener{broken, opener("y", event(0))}})
		if len(sums) != 2 || sums[0].File != "none" || sums[1].Used != 1 || len(faults) != 0 {
			t.Errorf("tallies %v, faults %v", sums, faults)
		}
	})
	for _, c := range []struct {
		name, text string
		nothing    bool
	}{
		{"ATT-15 other requests say that there was no exec", otherRequest, false},
		{"ATT-15 alerts without a process say nothing", noPID, true},
		{"ATT-15 no line says nothing", "", true},
		{"ATT-15 one line in many that is used is enough", noPID + "\n" + strings.Replace(noPID, `"user.name":"root"`, `"proc.pid":5`, 1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sums, faults := tallies(&lines.Source{Files: []lines.Opener{opener("x", c.text)}})
			if len(sums) != 1 || sums[0].Nothing() != c.nothing || (len(faults) == 1) != c.nothing {
				t.Errorf("tallies %v, faults %v", sums, faults)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	t.Run("ATT-15 what a process was told to run does not choose how its file is read", func(t *testing.T) {
		for _, word := range []string{"output_fields", "exec_id", "eventName", "audit.k8s.io/", "execID", "apiVersion"} {
			line := strings.Replace(event(0), `"node"`, `"argv":["`+word+`"],"containerID":"audit.k8s.io/","x":{"`+word+`":{"proc.pid":1}},"node"`, 1)
			pids, faults, errs := collect(t, &lines.Source{Files: []lines.Opener{opener("x", line+"\n"+event(1))}})
			if fmt.Sprint(pids) != "[1 2]" || faults != nil || errs != nil {
				t.Errorf("%s: read %v, %v, %v", word, pids, faults, errs)
			}
		}
	})
	t.Run("ATT-15 an event in an envelope shows no format", func(t *testing.T) {
		for _, line := range []string{event(0), noPID, otherRequest, `{"process_exec":{"process":{"exec_id":"a"}}}`, `{"eventName":"execve"}`, `{"version":"spo/v1_alpha"}`, `{"execID":"e"}`} {
			if lines.Detect([]byte(line)) == nil {
				t.Errorf("%s is of no format", line)
			}
			for _, envelope := range []string{`{"_source":%s}`, `{"log":%s,"date":1}`, `[%s]`, `{"event":%s}`, `{"version":%s}`} {
				if lines.Detect(fmt.Appendf(nil, envelope, line)) != nil {
					t.Errorf("%s shows the format of %s", envelope, line)
				}
			}
		}
	})
}
