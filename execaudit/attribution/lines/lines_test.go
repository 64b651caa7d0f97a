package lines_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

func event(n int) string {
	return fmt.Sprintf(`{"version":1,"event":"exec","time":"2026-11-21T04:10:00Z","node":"n1","process":{"pid":%d,"startTicks":5}}`, n+1)
}

func opener(name, text string) lines.Opener {
	return lines.Opener{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// collect reads a source to its end: the PIDs in order, the faults, the errors.
func collect(t interface{ Helper() }, s *lines.Source) (pids []int, faults []string, errs []error) {
	t.Helper()
	for b := range s.Read(context.Background()) {
		for i := range b.Events {
			pids = append(pids, b.Events[i].Process.PID)
		}
		for _, f := range b.Faults {
			faults = append(faults, f.Error())
		}
		if b.Err != nil {
			errs = append(errs, b.Err)
		}
		b.Release()
	}
	return pids, faults, errs
}

func TestRead(t *testing.T) {
	t.Run("ATT-8 a file that ends in the middle of its gzip is named, and what it gave is kept", func(t *testing.T) {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		fmt.Fprintln(z, event(0))
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
		pids, _, errs := collect(t, &lines.Source{Files: []lines.Opener{opener("cut.gz", zipped.String()), opener("b", event(1))}})
		if fmt.Sprint(pids) != "[1 2]" || len(errs) != 1 || errs[0].Error() != "cut.gz: unexpected EOF" || !errors.Is(errs[0], io.ErrUnexpectedEOF) {
			t.Errorf("read %v, %v", pids, errs)
		}
	})
	t.Run("ATT-3 rotated files, the oldest zipped, are one log", func(t *testing.T) {
		var zipped bytes.Buffer
		for _, n := range []int{0, 1} { // two members, as some rotators append
			z := gzip.NewWriter(&zipped)
			fmt.Fprintln(z, event(n))
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
		}
		pids, faults, errs := collect(t, &lines.Source{Files: []lines.Opener{opener("a.gz", zipped.String()), opener("b", event(2)+"\r\n\n"+event(3))}})
		if fmt.Sprint(pids) != "[1 2 3 4]" || faults != nil || errs != nil {
			t.Errorf("read %v, %v, %v", pids, faults, errs)
		}
	})
	t.Run("ATT-8 malformed lines are reported with file and line, and the rest is read", func(t *testing.T) {
		text := strings.Join([]string{"hunter2", event(0), `{"version":1,"event":"exec"`, "", event(1), "\xff"}, "\n")
		pids, faults, _ := collect(t, &lines.Source{Files: []lines.Opener{opener("p", text), opener("q", "hunter2\n"+event(2))}})
		want := "[p:1: malformed line p:3: malformed line p:6: malformed line q:1: malformed line]"
		if fmt.Sprint(pids) != "[1 2 3]" || fmt.Sprint(faults) != want {
			t.Errorf("read %v, faults %v, want %s", pids, faults, want)
		}
	})
	t.Run("ATT-8 a line that is too long, a file that is cut or missing stop nothing", func(t *testing.T) {
		long := event(0) + "\n" + strings.Repeat("x", lines.MaxLineBytes+1000) + "\n" + event(1) + "\n"
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		fmt.Fprintln(z, event(2))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		missing := lines.File(filepath.Join(t.TempDir(), "none"), nil)
		pids, faults, errs := collect(t, &lines.Source{Files: []lines.Opener{
			opener("long", long), opener("cut", zipped.String()[:zipped.Len()-4]), missing, opener("last", event(3)),
		}})
		if fmt.Sprint(pids) != "[1 2 3 4]" || len(faults) != 1 || !strings.HasPrefix(faults[0], "long:2: line over") || len(errs) != 2 || !errors.Is(errs[1], os.ErrNotExist) {
			t.Errorf("read %v, %v, %v", pids, faults, errs)
		}
	})
	t.Run("ATT-8 a file of no known format is all faults", func(t *testing.T) {
		_, faults, _ := collect(t, &lines.Source{Files: []lines.Opener{opener("x", "{}\n[]\n")}})
		if len(faults) != 3 || faults[2] != "x: nothing of the file could be used" {
			t.Errorf("faults %v", faults)
		}
	})
}

func TestReadLaw(t *testing.T) {
	t.Run("ATT-3 however the text arrives and is cut into files, it reads the same", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 3000).Draw(t, "lines")
			var files []lines.Opener
			var text strings.Builder
			for i := range n {
				fmt.Fprintln(&text, event(i))
				if i == n-1 || rapid.IntRange(0, 500).Draw(t, "turn") == 0 {
					files = append(files, opener(fmt.Sprint(i), text.String()))
					text.Reset()
				}
			}
			pids, faults, errs := collect(t, &lines.Source{Files: files, Live: rapid.Bool().Draw(t, "live"), Workers: rapid.IntRange(1, 4).Draw(t, "workers")})
			if len(pids) != n || faults != nil || errs != nil {
				t.Fatalf("%d of %d, %v, %v", len(pids), n, faults, errs)
			}
			for i, pid := range pids {
				if pid != i+1 {
					t.Fatalf("line %d has PID %d", i, pid)
				}
			}
		})
	})
}

func TestFollow(t *testing.T) {
	t.Run("ATT-3 a growing file is read on through rotation and truncation", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		path := filepath.Join(t.TempDir(), "log")
		put(t, path, event(0)+"\n")
		s := &lines.Source{Files: []lines.Opener{lines.Follow(ctx, path)}, Live: true, Node: "n1"}
		batches := s.Read(context.Background())
		next := func(want int) {
			t.Helper()
			for b := range batches {
				if len(b.Events) == 0 {
					continue
				}
				if got := b.Events[0].Process.PID; got != want {
					t.Fatalf("PID %d, want %d", got, want)
				}
				return
			}
			t.Fatal("ended")
		}
		next(1)
		put(t, path, event(1)+"\n")
		next(2)
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		put(t, path, event(2)+"\n")
		next(3)
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		put(t, path, strings.Replace(event(3), `"node":"n1",`, "", 1)+"\n")
		next(4)
		cancel()
		for b := range batches {
			if b.Ended == nil || len(b.Events) > 0 {
				t.Error("more after the end")
			}
		}
	})
}

func put(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
