package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// fileMode lets the owner alone read the command lines in a journal.
const fileMode = 0o600

// Open returns a Writer on the file at path, created when it is not there, its
// name then synced into its directory. The file has mode 0600 from now on, whatever it
// had before. A last line that a crash left unfinished is closed with a newline,
// never removed, and reported by readers as malformed. To rotate, rename the file
// and Open anew.
//
// A file has one Writer at a time; the lock ends with Close or with the
// process. A child that a killed process has forked and that has not come to its
// exec yet holds the lock for that moment.
//
// Errors: ErrNotRegular, also for a symlink, which is not followed; ErrNotPrivate;
// ErrInUse; or the system's. After ErrNotRegular and ErrNotPrivate what is at path
// is as it was. The directories above are the caller's to keep: who may write to the
// file's own can rename it away. A process that had the file open
// before its mode was changed still has it.
//
// Where there is no flock (Windows, Solaris, AIX) a second writer is not noticed, nor are
// owners and second names.
func Open(path string) (*Writer, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	torn, err := claim(file, path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	w := NewWriter(claimed{file})
	w.torn = torn
	return w, nil
}

// openFile looks before it opens, because opening a device may already do something.
func openFile(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s", ErrNotRegular, path)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|noFollow, fileMode)
}

// claim makes the file this Writer's alone and reports whether its last line is torn.
func claim(file *os.File, path string) (torn bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	for _, step := range []func() error{
		func() error { return check(info, path) },
		func() error { return lock(file) },
		func() error { return stillNamed(info, path) },
		func() error { return restrict(file, info) },
		func() error { return syncDir(filepath.Dir(path)) },
	} {
		if err := step(); err != nil {
			return false, err
		}
	}
	return endsTorn(file)
}

// check looks at the file that was opened, which need not be the one that openFile looked at.
func check(info os.FileInfo, path string) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s", ErrNotRegular, path)
	}
	if !private(info) {
		return fmt.Errorf("%w: %s", ErrNotPrivate, path)
	}
	return nil
}

// stillNamed wants the locked file to be the one at path: a rotation may have come in between.
func stillNamed(info os.FileInfo, path string) error {
	if named, err := os.Lstat(path); err != nil || !os.SameFile(info, named) {
		return fmt.Errorf("%w: %s was renamed while it was opened", ErrInUse, path)
	}
	return nil
}

// restrict changes a mode only if it must: the owner of a file with the attribute append-only may not.
func restrict(file *os.File, info os.FileInfo) error {
	if info.Mode() == fileMode {
		return nil
	}
	return file.Chmod(fileMode)
}

// endsTorn reports whether the last byte of file is not a newline. Under the lock nobody else appends.
func endsTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return last[0] != '\n', err
}

// claimed is a file that gives its lock back when closed, although a child between
// fork and exec may still have it open.
type claimed struct {
	*os.File
}

// Close implements File.
func (c claimed) Close() error {
	return errors.Join(unlock(c.File), c.File.Close())
}
