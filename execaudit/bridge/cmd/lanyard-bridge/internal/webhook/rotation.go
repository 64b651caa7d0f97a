package webhook

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// rotation says when a file's lines go on in a new one. The zero value is never.
type rotation struct {
	// bytes is the size of the largest file, except one that a single append makes larger.
	bytes int64
	// keep is how many rotated files are kept; 0 is all.
	keep int
}

// newSuffix is of a file that is being made. Nothing is written to it under that name.
const newSuffix = ".new"

// rotate gives the file the name NAME.NUMBER, as a journal's, if n more bytes would make it too large, and goes on in
// a new one. Nothing is written to a file that was renamed. After an error the lines go on in the file that is open.
func (f *lineFile) rotate(n int) error {
	if f.rotation.bytes == 0 {
		return nil
	}
	open, err := f.file.Stat()
	if err != nil || !open.Mode().IsRegular() || open.Size() == 0 || open.Size()+int64(n) <= f.rotation.bytes {
		return err
	}
	named, err := os.Stat(f.name)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(open, named) {
		return f.open() // somebody else moved it away, and has not said so yet
	}
	if err != nil {
		return err
	}
	return errors.Join(f.turn(), journal.Retire(f.name, f.rotation.keep))
}

// turn renames the file and opens the next one. A kill at any place leaves each line in one file of a name that is read.
func (f *lineFile) turn() error {
	to, number, err := journal.NextName(f.name, f.number)
	if err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	next, err := os.OpenFile(f.name+newSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err = os.Rename(f.name, to); err == nil {
		if err = os.Rename(next.Name(), f.name); err != nil {
			err = errors.Join(err, os.Rename(to, f.name))
		}
	}
	if err != nil {
		return errors.Join(err, next.Close())
	}
	old := f.file
	f.file, f.torn, f.unnamed, f.number = next, false, true, number
	return old.Close()
}

// syncDirectory makes a file's name as lasting as its content.
func syncDirectory(of string) error {
	dir, err := os.Open(filepath.Dir(of))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
