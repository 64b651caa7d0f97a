package lines

import (
	"errors"
	"os"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// turn has the name lead to the open file again if somebody moved it away, and rotates the file if n more bytes would
// make it too large. A kill at any place leaves each line in one file of a name that is read.
func (f *File) turn(n int) error {
	if f.name == Standard {
		return nil
	}
	open, err := f.file.Stat()
	if err != nil || !open.Mode().IsRegular() {
		return err
	}
	named, err := os.Stat(f.name)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(open, named) {
		return f.open()
	}
	if err != nil || f.rotation.Bytes == 0 || f.size == 0 || f.size+int64(n) <= f.rotation.Bytes {
		return err
	}
	if len(f.rest) > 0 {
		return nil // its line's beginning is here
	}
	return errors.Join(f.rotate(), journal.Retire(f.name, f.rotation.Keep))
}

// rotate gives the file the name NAME.NUMBER, as a journal's, and opens the next one. Nothing is written to a file that
// was renamed.
func (f *File) rotate() error {
	to, number, err := journal.NextName(f.name, f.number)
	if err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.name, to); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return errors.Join(err, os.Rename(to, f.name))
	}
	f.number = number
	return nil
}
