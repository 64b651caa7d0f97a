package journal_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("only root may mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	t.Run("EXA-39 a disk that was full leaves one torn line and no record that Append refused", func(t *testing.T) {
		path, filler := filepath.Join(dir, "journal"), filepath.Join(dir, "filler")
		if err := os.WriteFile(filler, make([]byte, 4<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		w := openJournal(t, path)
		kept := 0
		var err error
		for err == nil {
			if err = w.Append(journal.End(session, process, kept, at)); err == nil {
				kept++
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Append on a full disk = %v, want %v", err, syscall.ENOSPC)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, w, journal.End(session, process, kept, at))
		records, faults := readAll(t, mustRead(t, path))
		if len(records) != kept+1 || len(faults) != 1 || kept == 0 {
			t.Fatalf("%d records, faults %v, want %d and one", len(records), faults, kept+1)
		}
		for i, r := range records {
			if *r.ExitCode != i {
				t.Fatalf("record %d is that of Append %d", i, *r.ExitCode)
			}
		}
	})
}

func TestFullDiskSealed(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("only root may mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	t.Run("EXA-39 a disk that is full at any byte leaves a journal that goes on, rotates and verifies", func(t *testing.T) {
		filler := filepath.Join(dir, "filler")
		for round := range 12 {
			s := newSealed(t).in(filepath.Join(dir, strconv.Itoa(round)))
			mustDo(t, os.Mkdir(s.dir, 0o700))
			mustDo(t, s.key.Install(s.keyFile))
			w := s.open(t)
			kept := 0
			fill := func() {
				_ = os.WriteFile(filler, make([]byte, 64<<10), 0o600)
				var err error
				for err == nil {
					if err = w.Append(journal.End(session, process, kept, at)); err == nil {
						kept++
					}
					if err == nil && kept%(round+1) == 0 {
						err = w.Seal()
					}
				}
				for range 3 { // whatever it tries now
					_ = w.Seal()
					_ = w.Rotate()
					_ = w.Append(journal.End(session, process, 999, at))
				}
				mustDo(t, os.Remove(filler))
			}
			fill()
			mustAppend(t, w, journal.End(session, process, kept, at))
			mustDo(t, w.Rotate())
			fill()
			mustDo(t, w.Close())
			if r := s.verify(t); r.Err() != nil || r.Trusted != r.End || r.Trusted.Records < kept {
				t.Fatalf("round %d: %d records kept, report %+v, %v", round, kept, r, r.Err())
			}
			mustDo(t, os.RemoveAll(s.dir))
		}
	})
}

func TestCloseUnlocks(t *testing.T) {
	t.Run("EXA-39 Close gives the lock back although a child still has the file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		w := openJournal(t, path)
		c := exec.Command("cat")
		if _, err := c.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		c.ExtraFiles = []*os.File{opened(t, path)}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		openJournal(t, path)
	})
}

// opened returns a second descriptor of the opening of a file, as a child inherits one.
func opened(t *testing.T, path string) *os.File {
	t.Helper()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		if to, err := os.Readlink("/proc/self/fd/" + d.Name()); err != nil || to != path {
			continue
		}
		n, err := strconv.Atoi(d.Name())
		if err != nil {
			t.Fatal(err)
		}
		if n, err = syscall.Dup(n); err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(n), path)
		t.Cleanup(func() { f.Close() })
		return f
	}
	t.Fatalf("%s is not open", path)
	return nil
}
