package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func intent(i int) journal.Record {
	s := journal.Session{Node: "n1", ContainerID: "c", ExecID: fmt.Sprint(i)}
	return journal.Intent(s, []string{"sh"}, false, time.Unix(int64(i)+1, 0))
}

// followed returns a follower, and the exec IDs of what it took.
func followed(path string) (*follower, *[]string) {
	var ids []string
	f := &follower{path: path, status: JournalStatus{Path: path}}
	f.take = func(r *journal.Record) { ids = append(ids, strings.Clone(r.ExecID)) }
	return f, &ids
}

func TestFollowerLaws(t *testing.T) {
	t.Run("AGT-3 every record of a journal that is written, rotated and opened anew is taken once, in order",
		func(t *testing.T) {
			base := t.TempDir()
			n := 0
			rapid.Check(t, func(t *rapid.T) {
				n++
				path := filepath.Join(base, fmt.Sprint(n), "exec.jsonl")
				if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				f, got := followed(path)
				defer f.close()
				var w *journal.Writer
				var want []string
				for i := range rapid.IntRange(0, 30).Draw(t, "steps") {
					var err error
					switch step := rapid.SampledFrom([]string{"write", "write", "look", "rotate", "reopen"}).Draw(t, "step"); {
					case step == "look":
						err = f.look()
					case step == "rotate" && w != nil:
						err = w.Rotate()
					case w == nil || step == "reopen":
						if w != nil {
							err = w.Close()
						}
						if err == nil {
							w, err = journal.Open(path, journal.Options{})
						}
					default:
						err = w.AppendUnsynced(intent(i))
						want = append(want, fmt.Sprint(i))
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if w != nil {
					defer w.Close()
				}
				if err := f.look(); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(*got, want) || f.status.Faults != 0 || f.status.Records != int64(len(want)) {
					t.Fatalf("took %v, want %v; %+v", *got, want, f.status)
				}
			})
		})
	t.Run("AGT-3 a line that is not whole yet waits; one that is not a record, or too long, is a fault",
		func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "exec.jsonl")
			w, err := journal.Open(path, journal.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Append(intent(1)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			line := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(whole)), "\n"),
				func(l string) bool { return !strings.Contains(l, "execID") })[0]
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			f, got := followed(path)
			defer f.close()
			for _, part := range []struct {
				text           string
				taken, faulted int
			}{
				{line[:20], 0, 0},
				{line[20:] + "\n\n", 1, 0},
				{"nonsense\n" + line + "\n", 2, 1},
				{strings.Repeat("x", journal.MaxLineBytes), 2, 1},
				{"xx", 2, 1},
				{"\n" + line + "\n", 3, 2},
			} {
				if _, err := file.WriteString(part.text); err != nil {
					t.Fatal(err)
				}
				if err := f.look(); err != nil {
					t.Fatal(err)
				}
				if len(*got) != part.taken || f.status.Faults != int64(part.faulted) {
					t.Fatalf("after %.20q: took %v, %+v", part.text, *got, f.status)
				}
			}
		})
}
