package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// FuzzVerify verifies any bytes as a journal of two files, with a key and without. What is trusted is then what the
// seed's writer wrote, since no input has a seal of its own.
func FuzzVerify(f *testing.F) {
	dir := f.TempDir()
	path, keyFile, key := filepath.Join(dir, "journal"), filepath.Join(dir, "key"), journal.NewKey()
	if err := key.Install(keyFile); err != nil {
		f.Fatal(err)
	}
	w, err := journal.Open(path, journal.Options{KeyFile: keyFile, SealInterval: -1})
	if err != nil {
		f.Fatal(err)
	}
	for i := range 4 {
		if err := w.Append(journal.End(session, process, i, at)); err != nil {
			f.Fatal(err)
		}
		if i == 1 {
			if err := w.Rotate(); err != nil {
				f.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	var whole []byte
	var parts [][]byte
	for _, name := range []string{path + ".00000001", path} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		parts, whole = append(parts, data), append(whole, data...)
	}
	f.Add(parts[0], parts[1])
	f.Add(parts[0], []byte{})
	f.Add(parts[1], parts[0])
	f.Add([]byte(goodLine), []byte("\n\n"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		dir := t.TempDir()
		names := []string{filepath.Join(dir, "journal.00000001"), filepath.Join(dir, "journal")}
		mustWrite(t, names[0], string(first))
		mustWrite(t, names[1], string(second))
		if _, err := journal.Verify(names, journal.Check{}); err != nil {
			t.Fatal(err)
		}
		r, err := journal.Verify(names, journal.Check{Keys: []journal.Key{key}})
		if err != nil {
			t.Fatal(err)
		}
		var trusted []byte
		switch r.Trusted.File {
		case names[0]:
			trusted = first[:r.Trusted.Byte]
		case names[1]:
			trusted = append(bytes.Clone(first), second[:r.Trusted.Byte]...)
		}
		if !bytes.HasPrefix(whole, trusted) && r.Begin <= 1 {
			t.Fatalf("trusted up to %+v:\n%s", r.Trusted, trusted)
		}
		for _, b := range r.Breaks {
			if len(b.Error()) > 400+len(dir) {
				t.Fatalf("a break repeats content: %v", b)
			}
		}
	})
}

// FuzzMarks: the strict parsers take a line or not, and a key file's; what they take, they would write.
func FuzzMarks(f *testing.F) {
	k := journal.NewKey()
	f.Add(journal.SealLine(k, journal.Seal{Epoch: 7, Time: at, Cause: journal.CauseCall}, [32]byte{1}))
	f.Add([]byte(`{"version":1,"kind":"file","time":"2026-11-21T04:10:00Z","file":1,"oldest":1,"prev":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`))
	f.Add([]byte(journal.KeyAt(k, 3, false)))
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		file, seal := journal.ParseMarks(line)
		if file && seal || !bytes.Equal(line, before) {
			t.Fatalf("%q is a mark: %t, a seal: %t", line, file, seal)
		}
		journal.ParseSlot(line)
		if _, err := journal.ParseKey(string(line)); err == nil && bytes.Contains(line, []byte("\x00")) {
			t.Fatalf("%q is a key", line)
		}
	})
}
