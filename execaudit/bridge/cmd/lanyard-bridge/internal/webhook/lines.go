package webhook

import (
	"errors"
	"io"
	"os"
	"sync"
)

// lineFile is a file that whole lines are appended to.
type lineFile struct {
	name string
	sync bool

	mu   sync.Mutex
	file *os.File
	// torn says that the last line has no end.
	torn bool
}

// standardOutput is the name of a lineFile that is none.
const standardOutput = "-"

// openLines opens the file, which is made for its owner alone if it is not there. With sync every line is on the disk
// before append returns.
func openLines(name string, sync bool) (*lineFile, error) {
	f := &lineFile{name: name, sync: sync}
	return f, f.reopen()
}

// reopen opens the file again by its name, after somebody moved it away. An error leaves the one that was open.
func (f *lineFile) reopen() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.name == standardOutput {
		f.file, f.sync = os.Stdout, false
		return nil
	}
	file, err := os.OpenFile(f.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	torn, err := endsTorn(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if f.file != nil {
		err = f.file.Close()
	}
	f.file, f.torn = file, torn
	return err
}

// endsTorn reports whether the file's last line has no end: a process was killed while it wrote.
func endsTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// append writes a line with its end. After an error the line may be there in part, or be there and not on the disk;
// the next line begins on a line of its own.
func (f *lineFile) append(line []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return os.ErrClosed
	}
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
	if f.sync {
		return f.file.Sync()
	}
	return nil
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
