package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// crash is what a directory held when everything ended.
type crash struct {
	step  string
	dir   string
	acked int // records whose Append had returned
}

// crashes takes a copy of a journal's directory at each step.
type crashes struct {
	t      *testing.T
	s      *sealed
	acked  int
	all    []crash
	before []byte // the key file's content when it was last on disk
	synced int64  // bytes of the journal that were on disk at least
}

func (c *crashes) take(step string) *sealed {
	to := c.t.TempDir()
	copyDir(c.t, c.s.dir, to)
	c.all = append(c.all, crash{step, to, c.acked})
	return c.s.in(to)
}

// at is called at each step. What a kill leaves is what is there; what a power cut leaves may be less.
func (c *crashes) at(step string) {
	c.take(step)
	switch step {
	case "key file: write":
		c.before = mustRead(c.t, c.s.keyFile)
	case "key file: sync":
		now := mustRead(c.t, c.s.keyFile)
		for _, cut := range []int{100, 4096, 4200} {
			mustWrite(c.t, c.take(fmt.Sprintf("%s, of which %d bytes are on disk", step, cut)).keyFile, string(now[:cut])+string(c.before[cut:]))
		}
	case "seal: written":
		data := mustRead(c.t, c.s.path)
		for cut := c.synced; cut < int64(len(data)); cut += 1 + (int64(len(data))-c.synced)/3 {
			mustWrite(c.t, c.take(fmt.Sprintf("%s, of which %d bytes of %d are on disk", step, cut, len(data))).path, string(data[:cut]))
		}
		mustWrite(c.t, c.take(step+", all but the newline").path, string(data[:len(data)-1]))
	case "seal: synced", "rotate: renamed":
		c.note()
	}
}

// note remembers that the journal is on disk.
func (c *crashes) note() { c.synced = int64(len(mustRead(c.t, c.s.path))) }

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	mustDo(t, err)
	var done []os.DirEntry
	for _, e := range entries {
		info, err := e.Info()
		mustDo(t, err)
		twin := slices.IndexFunc(done, func(other os.DirEntry) bool {
			it, err := other.Info()
			return err == nil && os.SameFile(info, it)
		})
		if twin >= 0 {
			mustDo(t, os.Link(filepath.Join(to, done[twin].Name()), filepath.Join(to, e.Name())))
			continue
		}
		mustWrite(t, filepath.Join(to, e.Name()), string(mustRead(t, filepath.Join(from, e.Name()))))
		done = append(done, e)
	}
}

func TestCrash(t *testing.T) {
	for name, keep := range map[string]int{"all files kept": 0, "one file kept": 1} {
		t.Run("EXA-39 a crash at any step loses no record and leaves a journal that goes on and verifies, "+name, func(t *testing.T) {
			s := newSealed(t)
			s.options.Keep = keep
			c := &crashes{t: t, s: s}
			t.Cleanup(journal.SetCrashPoint(c.at))
			mustWrite(t, s.path, "")
			for range 2 - keep { // rotations of a second writer are no different where files are deleted
				w := s.open(t)
				add := func() {
					mustAppend(t, w, journal.End(session, process, c.acked, at))
					c.acked++
					c.note()
				}
				for range 2 {
					add()
					mustDo(t, w.Rotate())
					add()
				}
				mustDo(t, w.Close())
			}
			journal.SetCrashPoint(func(string) {})
			for _, crash := range c.all {
				crash.check(t, s)
			}
			t.Logf("%d crashes", len(c.all))
		})
	}
}

// check opens the journal that a crash left, goes on in it, and wants it whole.
func (c crash) check(t *testing.T, s *sealed) {
	t.Helper()
	s = s.in(c.dir)
	w, err := journal.Open(s.path, s.options)
	if err != nil {
		t.Errorf("after a crash at %s: Open = %v", c.step, err)
		return
	}
	mustAppend(t, w, journal.Start(session, process, at))
	mustDo(t, w.Rotate())
	mustDo(t, w.Close())
	r := s.verify(t)
	if r.Err() != nil || r.Trusted != r.End {
		t.Errorf("after a crash at %s: %+v, %v", c.step, r, r.Err())
	}
	codes := -1
	records, _ := s.records(t)
	for _, record := range records {
		if record.ExitCode == nil {
			continue
		}
		if codes >= 0 && *record.ExitCode != codes+1 || codes < 0 && s.options.Keep == 0 && *record.ExitCode != 0 {
			t.Errorf("after a crash at %s: record %d follows %d", c.step, *record.ExitCode, codes)
		}
		codes = *record.ExitCode
	}
	if s.options.Keep == 0 && codes < c.acked-1 {
		t.Errorf("after a crash at %s: %d records, and %d were on disk", c.step, codes+1, c.acked)
	}
}

func TestRotate(t *testing.T) {
	t.Run("EXA-39 the next file is chained to the one before, and what is kept is what the options say", func(t *testing.T) {
		s := newSealed(t)
		s.options.Keep = 2
		w := s.open(t)
		for i := range 6 {
			mustAppend(t, w, journal.End(session, process, i, at))
			mustDo(t, w.Rotate())
		}
		files := s.files(t)
		if want := []string{s.path + ".00000005", s.path + ".00000006", s.path}; !slices.Equal(files, want) {
			t.Errorf("files %v, want %v", files, want)
		}
		mustDo(t, w.Close())
		if r := s.verify(t); r.Err() != nil || r.Begin != 5 || r.Trusted != r.End || r.Trusted.Records != 2 {
			t.Errorf("report %+v, %v", r, r.Err())
		}
		for _, name := range files {
			if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
			}
		}
		mustDo(t, os.Remove(files[0]))
		if r := s.verify(t); !errors.Is(r.Err(), journal.ErrMissingFile) {
			t.Errorf("without a file that is kept: %v", r.Err())
		}
	})
	t.Run("EXA-39 without a key files are chained as well", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		w := openJournal(t, path)
		mustDo(t, w.Rotate()) // nothing to rotate
		for i := range 3 {
			mustAppend(t, w, journal.End(session, process, i, at))
			mustDo(t, w.Rotate())
		}
		files, err := journal.Files(path)
		mustDo(t, err)
		if r := mustVerify(t, files, journal.Check{}); r.Err() != nil || len(files) != 4 || r.End.Records != 3 {
			t.Errorf("%v: %+v", files, r)
		}
		if r := mustVerify(t, append(files[:1:1], files[2:]...), journal.Check{}); !errors.Is(r.Err(), journal.ErrMissingFile) {
			t.Errorf("without the second: %v", r.Err())
		}
	})
	t.Run("EXA-39 the file keeps its lock through a rotation", func(t *testing.T) {
		s := newSealed(t)
		s.options.KeyFile = ""
		w := s.open(t)
		mustAppend(t, w, journal.End(session, process, 1, at))
		mustDo(t, w.Rotate())
		mustRefuse(t, s.path, journal.ErrInUse)
	})
	t.Run("EXA-39 where the new file cannot be, the journal goes on in the old one", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		mustAppend(t, w, journal.End(session, process, 0, at))
		taken := s.path + ".00000001"
		mustWrite(t, taken, "of somebody else")
		if err := w.Rotate(); !errors.Is(err, os.ErrExist) {
			t.Errorf("Rotate = %v, want %v", err, os.ErrExist)
		}
		mustAppend(t, w, journal.End(session, process, 1, at))
		if string(mustRead(t, taken)) != "of somebody else" {
			t.Error("the file that was there changed")
		}
		mustDo(t, os.Remove(taken))
		mustDo(t, os.Mkdir(s.path+".new", 0o700))
		mustWrite(t, s.path+".new/x", "")
		if err := w.Rotate(); err == nil {
			t.Error("Rotate = nil, and the new file's name is a directory's")
		}
		mustDo(t, os.RemoveAll(s.path+".new"))
		mustDo(t, w.Rotate())
		mustAppend(t, w, journal.End(session, process, 2, at))
		mustDo(t, w.Close())
		checkAll(t, s, 1, 3)
	})
	t.Run("EXA-39 a journal that somebody renamed is not rotated into its place", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		w := openJournal(t, path)
		mustAppend(t, w, journal.End(session, process, 0, at))
		mustDo(t, os.Rename(path, path+".moved"))
		mustWrite(t, path, "of somebody else")
		if err := w.Rotate(); !errors.Is(err, journal.ErrInUse) {
			t.Errorf("Rotate = %v, want %v", err, journal.ErrInUse)
		}
		if string(mustRead(t, path)) != "of somebody else" {
			t.Error("the file in its place changed")
		}
	})
	t.Run("EXA-39 a Writer that knows no path does not rotate", func(t *testing.T) {
		w := journal.NewWriter(newDisk())
		if err := w.Rotate(); !errors.Is(err, journal.ErrNotOpened) {
			t.Errorf("Rotate = %v", err)
		}
		mustDo(t, w.Seal())
	})
	t.Run("EXA-39 a torn line is closed before its file is given away", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		mustAppend(t, w, journal.End(session, process, 0, at))
		mustDo(t, w.Close())
		mustWrite(t, s.path, string(mustRead(t, s.path))+"{")
		s.options.KeyFile = ""
		w = s.open(t)
		mustDo(t, w.Rotate())
		mustDo(t, w.Close())
		if data := mustRead(t, s.path+".00000001"); !bytes.HasSuffix(data, []byte("{\n")) {
			t.Errorf("it ends in %q", data[len(data)-5:])
		}
		if r := mustVerify(t, s.files(t), journal.Check{Keys: []journal.Key{s.key}, KeyFile: s.keyFile}); r.Err() != nil || r.Torn != 1 {
			t.Errorf("report %+v", r)
		}
	})
}
