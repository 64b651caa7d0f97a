package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func openJournal(t *testing.T, path string) *journal.Writer {
	t.Helper()
	w, err := journal.Open(path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// appendTo opens the journal for one record.
func appendTo(t *testing.T, path string, r journal.Record) {
	t.Helper()
	w := openJournal(t, path)
	mustAppend(t, w, r)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// mustRefuse wants Open to fail with an error.
func mustRefuse(t *testing.T, path string, want error) {
	t.Helper()
	w, err := journal.Open(path, journal.Options{})
	if err == nil {
		_ = w.Close()
	}
	if !errors.Is(err, want) {
		t.Errorf("Open(%s) = %v, want %v", filepath.Base(path), err, want)
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOpen(t *testing.T) {
	t.Run("ATT-11 it only grows", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		appendTo(t, path, journal.Intent(session, nil, false, at))
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, journal.Start(session, process, at))
		after, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(after, before) || len(after) == len(before) {
			t.Errorf("%q became %q, %v", before, after, err)
		}
	})
	t.Run("ATT-11 a torn tail is kept, reported, and harms no other record", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		appendTo(t, path, journal.Intent(session, nil, false, at))
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(whole, whole[:40]...), 0o600); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, journal.Start(session, process, at))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		records, faults := readAll(t, data)
		if len(records) != 2 || records[1].Kind != journal.KindStart || len(faults) != 1 || faults[0].Error() != "journal:3: not a journal record in JSON" {
			t.Errorf("read %v, %v from\n%s", records, faults, data)
		}
	})
	t.Run("EXA-39 the next record stands on its own line wherever a crash cut the last one", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		appendTo(t, path, journal.Intent(session, nil, false, at))
		whole := mustRead(t, path)
		for cut := range whole {
			mustWrite(t, path, string(whole)+string(whole[:cut]))
			appendTo(t, path, journal.Start(session, process, at))
			records, faults := readAll(t, mustRead(t, path))
			want := 2
			if cut == len(whole)-1 { // all of the record but its newline
				want = 3
			}
			if len(records) != want || records[want-1].Kind != journal.KindStart || len(faults) > 1 {
				t.Fatalf("cut at %d: read %v, %v", cut, records, faults)
			}
		}
	})
	t.Run("EXA-39 a directory is not a journal", func(t *testing.T) {
		mustRefuse(t, t.TempDir(), journal.ErrNotRegular)
	})
	t.Run("no such directory", func(t *testing.T) {
		mustRefuse(t, filepath.Join(t.TempDir(), "none", "journal"), os.ErrNotExist)
	})
}
