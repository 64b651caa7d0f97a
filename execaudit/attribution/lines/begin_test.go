package lines_test

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// eventAt is an event some seconds after four o'clock.
func eventAt(second int) string {
	at := time.Date(2026, 11, 21, 4, 0, second, 0, time.UTC).Format(time.RFC3339)
	return strings.Replace(event(0), "2026-11-21T04:10:00Z", at, 1)
}

// again is a file that can be opened again.
func again(text string) *lines.Source {
	o := opener("x", text)
	o.Again = true
	return &lines.Source{Files: []lines.Opener{o}}
}

func TestBegin(t *testing.T) {
	four := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	request := func(second int) string {
		return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a","objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-11-21T03:59:00Z","stageTimestamp":"2026-11-21T04:00:%02dZ"}`, second)
	}
	late := strings.Repeat(" ", 300<<10) + eventAt(1) + "\n" + eventAt(2)
	for _, c := range []struct {
		name string
		s    *lines.Source
		want time.Time
	}{
		{"ATT-3 a file begins with its earliest line", again(eventAt(5) + "\nhunter2\n" + eventAt(3) + "\n" + eventAt(7)), four.Add(3 * time.Second)},
		{"ATT-3 requests that are no exec show when a file begins", again(request(9) + "\n" + request(10)), four.Add(9 * time.Second)},
		{"ATT-14 one line alone might be wrong", again(eventAt(5)), time.Time{}},
		{"ATT-3 a file of nothing may begin at any time", again(""), time.Time{}},
		{"ATT-3 a file that is given once is not looked into", &lines.Source{Files: []lines.Opener{{Name: "-", Open: func() (io.ReadCloser, error) {
			panic("opened")
		}}}}, time.Time{}},
		{"ATT-3 a file that is missing may begin at any time", &lines.Source{Files: []lines.Opener{lines.File(filepath.Join(t.TempDir(), "none"), nil)}}, time.Time{}},
		{"ATT-3 what is far into a file does not show when it begins", again(late), time.Time{}},
		{"ATT-3 a source without files begins at any time", &lines.Source{}, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.s.Begin(); !got.Equal(c.want) {
				t.Errorf("Begin() = %v, want %v", got, c.want)
			}
		})
	}
	t.Run("ATT-3 a regular file can be opened again, standard input cannot", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "log")
		put(t, path, event(0))
		for path, want := range map[string]bool{path: true, "-": false, filepath.Dir(path): false} {
			if got := lines.File(path, nil).Again; got != want {
				t.Errorf("File(%q).Again = %v", path, got)
			}
		}
	})
	t.Run("ATT-3 no line of a file's beginning is before its begin", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			seconds := rapid.SliceOfN(rapid.IntRange(0, 86399), 2, 50).Draw(t, "seconds")
			var text strings.Builder
			least := seconds[0]
			for _, s := range seconds {
				fmt.Fprintln(&text, eventAt(s))
				least = min(least, s)
			}
			if got := again(text.String()).Begin(); !got.Equal(four.Add(time.Duration(least) * time.Second)) {
				t.Fatalf("Begin() = %v, want second %d", got, least)
			}
		})
	})
}
