package join_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// shelf has files and counts how many of them are open.
type shelf struct {
	mu         sync.Mutex
	closed     sync.Cond // with mu
	open, most int
	opened     map[string]int
}

func (s *shelf) file(name, text string, again bool) lines.Opener {
	return lines.Opener{Name: name, Again: again, Open: func() (io.ReadCloser, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.opened == nil {
			s.opened, s.closed.L = map[string]int{}, &s.mu
		}
		s.opened[name]++
		s.open++
		s.most = max(s.most, s.open)
		return &shelved{strings.NewReader(text), s}, nil
	}}
}

type shelved struct {
	io.Reader
	*shelf
}

func (s *shelved) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.closed.Broadcast()
	return nil
}

// empty waits until no file is open.
func (s *shelf) empty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open > 0 {
		s.closed.Wait()
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// others returns the audit log of a day without an exec but at its end, where the log goes on.
func others(n int, then []string) string {
	var text strings.Builder
	for i := range n {
		at := dawn.Add(-24*time.Hour + time.Duration(i)*time.Second).Format(time.RFC3339Nano)
		fmt.Fprintf(&text, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"o-%d","stage":"ResponseComplete","objectRef":{"resource":"pods","subresource":"log"},"requestReceivedTimestamp":"%s","stageTimestamp":"%s"}`+"\n", i, at, at)
	}
	return text.String() + strings.Join(then, "\n")
}

func TestOpen(t *testing.T) {
	t.Run("ATT-6 of a hundred rotated files few are open at a time, in whatever order they are given", func(t *testing.T) {
		const n = 2000
		audit, journal, events := logs(n)
		for again, bound := range map[bool]int{true: 9, false: 300} {
			var s shelf
			var sources []*lines.Source
			for k, log := range [][]string{audit, journal, events} {
				list := &lines.Source{}
				for i, file := range backwards(parts(log, len(log)/100)) {
					text := strings.Join(file, "\n")
					if i%2 == 0 {
						text = zipped(t, text)
					}
					list.Files = append(list.Files, s.file(fmt.Sprint(k, "-", i), text, again))
				}
				sources = append(sources, list)
			}
			got, stats := answers(t, sources...)
			if got != right(n) || stats.Late > 0 {
				t.Errorf("again %v: %d of %d answers are right, %+v", again, common(got, right(n)), 2*n, stats)
			}
			s.empty()
			if s.most > bound || len(s.opened) != 300 {
				t.Errorf("again %v: %d files were open at a time, of %d", again, s.most, len(s.opened))
			}
			for name, times := range s.opened {
				if times > 2 || times > 1 && !again {
					t.Errorf("%s was opened %d times", name, times)
				}
			}
		}
	})
	t.Run("ATT-3 an audit log of other requests for long is opened in its time", func(t *testing.T) {
		const n = 500
		audit, journal, events := logs(n)
		var s shelf
		list := &lines.Source{Files: []lines.Opener{
			s.file("second", strings.Join(audit[n:], "\n"), true), s.file("first", others(5000, audit[:n]), true), s.file("day", others(5000, nil), true),
		}}
		if got, stats := answers(t, list, source(journal), source(events)); got != right(n) || stats.Late > 0 {
			t.Errorf("%d of %d answers are right, %+v", common(got, right(n)), 2*n, stats)
		}
	})
	t.Run("ATT-8 ATT-15 each file is told once, in the order in which they were given, and each fault once", func(t *testing.T) {
		audit, journal, events := logs(300)
		var s shelf
		broken := lines.Opener{Name: "broken", Again: true, Open: func() (io.ReadCloser, error) { return nil, io.ErrClosedPipe }}
		list := &lines.Source{Files: []lines.Opener{
			s.file("e2", "hunter2\n"+strings.Join(events[300:], "\n"), true), broken, s.file("empty", "", true), s.file("e1", strings.Join(events[:300], "\n")+"\nhunter2", true),
		}}
		var told []string
		m := attribution.New(attribution.Options{}, func(*attribution.Answer) {})
		var faults, stopped []string
		err := join.Files(context.Background(), m, []*lines.Source{source(audit), list, source(journal)}, join.Trouble{
			Fault:   func(f *lines.Fault) { faults = append(faults, f.Error()) },
			Stopped: func(err error) { stopped = append(stopped, err.Error()) },
			Ended:   func(f lines.Tally) { told = append(told, fmt.Sprint(f.File, " ", f.Used, " ", f.Faulted)) },
		})
		slices.Sort(faults)
		if err != nil || fmt.Sprint(told) != "[x 600 0 e2 300 1 broken 0 0 empty 0 0 e1 300 1 x 300 0]" || fmt.Sprint(stopped) != "[broken: io: read/write on closed pipe]" ||
			strings.Join(faults, ", ") != "e1:301: malformed line, e2:1: malformed line, empty: nothing of the file could be used" {
			t.Errorf("%v: told %v, faults %v, stopped %v", err, told, faults, stopped)
		}
	})
	t.Run("ATT-15 two logs in one file, the later one first, are said to be out of order", func(t *testing.T) {
		audit, journal, events := logs(300) // 210 s
		log := slices.Concat(events[300:], events[:300])
		var told []lines.Tally
		m := attribution.New(attribution.Options{}, func(*attribution.Answer) {})
		err := join.Files(context.Background(), m, []*lines.Source{source(audit), source(log), source(journal)}, join.Trouble{Ended: func(f lines.Tally) { told = append(told, f) }})
		if err != nil || len(told) != 3 {
			t.Fatal(err, told)
		}
		if f := told[1]; f.OutOfOrder != 300 || f.OutOfOrderBy != 209*time.Second+300*time.Millisecond+10*time.Millisecond || !strings.HasSuffix(f.String(), ", 300 out of order by up to 3m29s") {
			t.Errorf("%v, %v", f.OutOfOrderBy, &f)
		}
		if told[0].OutOfOrder+told[2].OutOfOrder > 0 {
			t.Errorf("told %v", told)
		}
		if late := m.Stats().Late; late != 300 {
			t.Errorf("%d events late", late)
		}
	})
	t.Run("a context that is done while files are read ends it, and leaves none open", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		audit, _, events := logs(3000)
		var s shelf
		var list lines.Source
		for i, file := range parts(events, 600) {
			list.Files = append(list.Files, s.file(fmt.Sprint(i), strings.Join(file, "\n"), true))
		}
		m := attribution.New(attribution.Options{}, func(*attribution.Answer) { cancel() })
		if err := join.Files(ctx, m, []*lines.Source{source(audit), &list}, join.Trouble{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Files = %v", err)
		}
		s.empty()
	})
}
