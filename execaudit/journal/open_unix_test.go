//go:build unix && !aix && !solaris

package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestOpenOnHostileDisk(t *testing.T) {
	for _, mode := range []os.FileMode{0o666, 0o644, 0o640, 0o400, 0o777, 0o600 | os.ModeSetuid, 0o600} {
		t.Run(fmt.Sprintf("EXA-39 mode 0600 where there was %v", mode), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			mustWrite(t, path, "")
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if mode == 0o400 && os.Geteuid() != 0 {
				t.Skip("only root may write to a file of mode 0400")
			}
			openJournal(t, path)
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
				t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
			}
		})
	}
	t.Run("EXA-39 mode 0600 for a new file, whatever the umask", func(t *testing.T) {
		dir := t.TempDir()
		for _, mask := range []int{0, 0o277} {
			path := filepath.Join(dir, fmt.Sprint(mask))
			before := syscall.Umask(mask)
			w, err := journal.Open(path, journal.Options{})
			syscall.Umask(before)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
				t.Errorf("umask %o: mode %v, %v, want 0600", mask, info.Mode(), err)
			}
		}
	})
	t.Run("EXA-39 a symlink is not followed", func(t *testing.T) {
		dir := t.TempDir()
		target, path := filepath.Join(dir, "target"), filepath.Join(dir, "journal")
		mustWrite(t, target, "of somebody else")
		if err := os.Chmod(target, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{target, filepath.Join(dir, "nothing"), dir, "journal"} {
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, path, journal.ErrNotRegular)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := os.Stat(target); err != nil || info.Mode() != 0o644 || string(mustRead(t, target)) != "of somebody else" {
			t.Errorf("the target has mode %v, %v, and holds %q", info.Mode(), err, mustRead(t, target))
		}
		if _, err := os.Lstat(filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a dangling link was followed: %v", err)
		}
	})
	t.Run("EXA-39 a symlink in the place of a journal that was renamed is not followed", func(t *testing.T) {
		dir := t.TempDir()
		path, renamed := filepath.Join(dir, "journal"), filepath.Join(dir, "journal.1")
		appendTo(t, path, journal.Intent(session, nil, false, at))
		if err := errors.Join(os.Rename(path, renamed), os.Symlink(renamed, path)); err != nil {
			t.Fatal(err)
		}
		before := mustRead(t, renamed)
		mustRefuse(t, path, journal.ErrNotRegular)
		if !bytes.Equal(mustRead(t, renamed), before) {
			t.Error("the renamed journal changed")
		}
	})
	t.Run("EXA-39 a FIFO, a socket and a device are not journals, and none is waited for", func(t *testing.T) {
		dir := t.TempDir()
		fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "s")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, path := range []string{fifo, socket, os.DevNull, "/dev/zero"} {
			mustRefuse(t, path, journal.ErrNotRegular)
		}
	})
	t.Run("EXA-39 a file with a second name is refused and not changed", func(t *testing.T) {
		dir := t.TempDir()
		other, path := filepath.Join(dir, "other"), filepath.Join(dir, "journal")
		mustWrite(t, other, "of somebody else")
		if err := errors.Join(os.Chmod(other, 0o644), os.Link(other, path)); err != nil {
			t.Fatal(err)
		}
		mustRefuse(t, path, journal.ErrNotPrivate)
		if info, err := os.Stat(other); err != nil || info.Mode() != 0o644 || string(mustRead(t, other)) != "of somebody else" {
			t.Errorf("the file has mode %v, %v, and holds %q", info.Mode(), err, mustRead(t, other))
		}
	})
	t.Run("EXA-39 another user's file is refused and not changed", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		mustWrite(t, path, "")
		if err := errors.Join(os.Chmod(path, 0o666), os.Chown(path, 4711, -1)); err != nil {
			t.Skipf("only root may give a file away: %v", err)
		}
		mustRefuse(t, path, journal.ErrNotPrivate)
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o666 {
			t.Errorf("mode %v, %v, want 0666 as before", info.Mode(), err)
		}
	})
}
