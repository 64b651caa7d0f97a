package webhook

import (
	"errors"
	"io"
	"os"
	"sync"
)

// lineFile is a file that whole lines are appended to.
type lineFile struct {
	name     string
	sync     bool
	rotation rotation
	// unrotated is told, once until it succeeds again, that the file could not be rotated; nil is nobody.
	unrotated func(error)

	mu   sync.Mutex
	file *os.File
	// torn says that the last line has no end.
	torn bool
	// unnamed says that the file's name may not be on the disk yet.
	unnamed bool
	number  uint64 // of the file that was rotated last
	stuck   bool   // the last rotation failed
}

// standardOutput is the name of a lineFile that is none.
const standardOutput = "-"

// openLines opens the file, which is made for its owner alone if it is not there. With sync every line is on the disk
// before append returns.
func openLines(name string, sync bool, rotation rotation) (*lineFile, error) {
	f := &lineFile{name: name, sync: sync, rotation: rotation}
	return f, f.reopen()
}

// reopen opens the file again by its name, after somebody moved it away. An error leaves the one that was open.
func (f *lineFile) reopen() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.name == standardOutput {
		f.file, f.sync, f.rotation = os.Stdout, false, rotation{}
		return nil
	}
	return f.open()
}

func (f *lineFile) open() error {
	file, err := os.OpenFile(f.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	torn := false
	if err == nil && info.Mode().IsRegular() {
		torn, err = endsTorn(file, info)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if f.file != nil {
		err = f.file.Close()
	}
	f.file, f.torn, f.unnamed = file, torn, info.Mode().IsRegular()
	return err
}

// endsTorn reports whether the file's last line has no end: a process was killed while it wrote.
func endsTorn(file *os.File, info os.FileInfo) (bool, error) {
	if info.Size() == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// append writes a line with its end, or several, into one file. After an error the line may be there in part, or be
// there and not on the disk; the next line begins on a line of its own. A rotation that fails is no error here.
func (f *lineFile) append(line []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return os.ErrClosed
	}
	err := f.rotate(len(line))
	if err != nil && !f.stuck && f.unrotated != nil {
		f.unrotated(err)
	}
	f.stuck = err != nil
	if f.torn {
		line = append([]byte("\n"), line...)
	}
	n, err := f.file.Write(line)
	switch {
	case n == len(line):
		f.torn = false
	case n > 0:
		f.torn = true
	}
	if err != nil {
		return err
	}
	if n < len(line) {
		return io.ErrShortWrite
	}
	return f.settle()
}

// settle has on the disk, where that is asked for, what was written and the name under which it is found.
func (f *lineFile) settle() error {
	if !f.sync {
		return nil
	}
	if err := f.file.Sync(); err != nil || !f.unnamed {
		return err
	}
	err := syncDirectory(f.name)
	f.unnamed = err != nil
	return err
}

func (f *lineFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file := f.file
	f.file = nil
	if file == nil || f.name == standardOutput {
		return nil
	}
	return file.Close()
}
