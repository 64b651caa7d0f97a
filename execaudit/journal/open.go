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
// never removed, and reported by readers as malformed. To rotate, call Rotate or set Options.MaxBytes.
//
// Every record is chained to all that stands before it, in this file and in the rotated ones beside it. To know where
// the chain stands Open reads the file once.
//
// A file has one Writer at a time; the lock ends with Close or with the
// process. A child that a killed process has forked and that has not come to its
// exec yet holds the lock for that moment.
//
// Errors: ErrNotRegular, also for a symlink, which is not followed; ErrNotPrivate;
// ErrInUse; ErrKeyFile; or the system's, fs.ErrNotExist for a key file among them. Those of Open hold for the key file
// as for the journal. After ErrNotRegular and ErrNotPrivate what is at path
// is as it was. The directories above are the caller's to keep: who may write to the
// file's own can rename it away. A process that had the file open
// before its mode was changed still has it.
//
// Where there is no flock (Windows, Solaris, AIX) a second writer is not noticed, nor are
// owners and second names.
func Open(path string, o Options) (*Writer, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	w, err := open(claimed{file}, path, o.withDefaults())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if w.own.key != nil {
		if err := w.own.seal(w, CauseOpen); err != nil {
			return nil, errors.Join(err, w.own.key.close(), file.Close())
		}
	}
	w.own.start(w)
	return w, nil
}

func open(file claimed, path string, o Options) (*Writer, error) {
	if err := claim(file.File, path); err != nil {
		return nil, err
	}
	t, number, err := findTail(file.File, path)
	if err != nil {
		return nil, err
	}
	w := NewWriter(file)
	w.own = &owner{Options: o, path: path, number: number}
	w.torn = t.torn
	w.chain = &chain{hasher: newHasher(), whole: t.whole, tornLine: t.after, size: t.size, marked: t.mark.File > 0, unsealed: t.unsealed}
	if o.KeyFile == "" {
		return w, nil
	}
	if w.own.key, err = openKeyFile(o.KeyFile); err != nil {
		return nil, err
	}
	if err := t.catchUp(w.own.key, file.File); err != nil {
		return nil, errors.Join(err, w.own.key.close())
	}
	return w, nil
}

// openFile looks before it opens, because opening a device may already do something.
func openFile(path string) (*os.File, error) {
	return openFileWith(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
}

func openFileWith(path string, flags int) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s", ErrNotRegular, path)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	return os.OpenFile(path, flags|noFollow, fileMode)
}

// claim makes the file its opener's alone.
func claim(file *os.File, path string) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // the file that was opened need not be the one that openFile looked at
		return fmt.Errorf("%w: %s", ErrNotRegular, path)
	}
	for _, step := range []func() error{
		func() error { return lock(file) },
		func() error { return stillNamed(info, path) },
		func() error { return onlyNamed(file, path) },
		func() error { return restrict(file, info) },
		func() error { return syncDir(filepath.Dir(path)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// onlyNamed wants the file to have no other name than the one that a crash in a rotation left.
func onlyNamed(file *os.File, path string) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !private(info) {
		if err := settle(info, path); err != nil {
			return err
		}
		if info, err = file.Stat(); err != nil {
			return err
		}
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

// claimed is a file that gives its lock back when closed, although a child between
// fork and exec may still have it open.
type claimed struct {
	*os.File
}

// Close implements File.
func (c claimed) Close() error {
	return errors.Join(unlock(c.File), c.File.Close())
}
