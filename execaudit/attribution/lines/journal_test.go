package lines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

var (
	journalAt      = time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	journalSession = journal.Session{Node: "n1", ContainerID: "c1", ExecID: "e1"}
)

// sealedJournal opens a journal with seals.
func sealedJournal(t *testing.T) (path string, w *journal.Writer) {
	t.Helper()
	dir := t.TempDir()
	key, path := filepath.Join(dir, "key"), filepath.Join(dir, "journal")
	if err := journal.NewKey().Install(key); err != nil {
		t.Fatal(err)
	}
	w, err := journal.Open(path, journal.Options{KeyFile: key, SealInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return path, w
}

func TestJournal(t *testing.T) {
	t.Run("EXA-39 ATT-15 the marks and seals of a journal are ignored by kind, and faults neither alone nor among records", func(t *testing.T) {
		path, w := sealedJournal(t)
		sums, faults := tallies(&lines.Source{Files: []lines.Opener{lines.File(path, nil)}})
		if len(sums) != 1 || sums[0].Ignored != (attribution.Ignored{OtherKinds: 2}) || sums[0].Nothing() || faults != nil {
			t.Errorf("tallies %v, faults %v", sums, faults)
		}
		if err := w.Append(journal.Intent(journalSession, []string{"caf\xe9"}, false, journalAt)); err != nil {
			t.Fatal(err)
		}
		if err := w.Seal(); err != nil {
			t.Fatal(err)
		}
		sums, faults = tallies(&lines.Source{Files: []lines.Opener{lines.File(path, nil)}})
		want := path + ": 1 line used, 3 ignored (3 of other kinds), 0 faulted"
		if len(sums) != 1 || sums[0].String() != want || faults != nil {
			t.Errorf("tallies %v, faults %v, want %s", sums, faults, want)
		}
		for b := range (&lines.Source{Files: []lines.Opener{lines.File(path, nil)}}).Read(context.Background()) {
			if len(b.Records) > 0 && fmt.Sprintf("%q", b.Records[0].Command) != `["caf\xe9"]` {
				t.Errorf("command %q", b.Records[0].Command)
			}
			b.Release()
		}
	})
	t.Run("EXA-39 who follows a journal loses no record of it, however often it is rotated between two looks", func(t *testing.T) {
		const rotations, each = 40, 5
		path, w := sealedJournal(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s := &lines.Source{Files: []lines.Opener{lines.Follow(ctx, path)}, Live: true}
		batches := s.Read(context.Background())
		go func() {
			for i := range rotations * each {
				if err := w.AppendUnsynced(journal.End(journalSession, journal.Process{PID: i + 1}, 0, journalAt)); err != nil {
					t.Error(err)
				}
				if i%each == each-1 {
					if err := w.Rotate(); err != nil {
						t.Error(err)
					}
				}
			}
		}()
		next := 1
		for b := range batches {
			for _, r := range b.Records {
				if r.Process.PID != next {
					t.Errorf("record %d follows %d", r.Process.PID, next-1)
				}
				next = r.Process.PID + 1
			}
			if len(b.Faults) > 0 {
				t.Errorf("faults %v", b.Faults)
			}
			b.Release()
			if next > rotations*each {
				cancel()
			}
		}
	})
	t.Run("ATT-3 what comes to a file between its end and its rotation is read", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		path := filepath.Join(t.TempDir(), "log")
		put(t, path, event(0)+"\n")
		o := lines.Follow(ctx, path)
		r, err := o.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		text := make([]byte, 4096)
		if n, err := r.Read(text); err != nil || n == 0 {
			t.Fatal(n, err)
		}
		put(t, path, event(1)+"\n")
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		put(t, path, event(2)+"\n")
		var got string
		for len(got) < len(event(1)+event(2))+2 {
			n, err := r.Read(text)
			if err != nil {
				t.Fatal(err)
			}
			got += string(text[:n])
		}
		if want := event(1) + "\n\n" + event(2) + "\n"; got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	})
}
