package lines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
	return errors.Join(f.rotate(), f.retire())
}

// rotate gives the file the name NAME.NUMBER, as a journal's, and opens the next one. Nothing is written to a file that
// was renamed.
func (f *File) rotate() error {
	to, err := f.nextName()
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
	return nil
}

// nextName is above the number of every file that was rotated, before this process or by it.
func (f *File) nextName() (string, error) {
	old, err := f.old()
	if err != nil {
		return "", err
	}
	if len(old) > 0 {
		last, err := strconv.ParseUint(strings.TrimPrefix(filepath.Ext(old[len(old)-1]), "."), 10, 64)
		if err != nil {
			return "", err
		}
		f.number = max(f.number, last)
	}
	f.number++
	return fmt.Sprintf("%s.%08d", f.name, f.number), nil
}

// old returns the files that were rotated, oldest first.
func (f *File) old() ([]string, error) {
	files, err := journal.Files(f.name)
	if last := len(files) - 1; last >= 0 && files[last] == f.name {
		files = files[:last]
	}
	return files, err
}

// retire deletes the oldest files beyond those that are kept.
func (f *File) retire() error {
	if f.rotation.Keep == 0 {
		return nil
	}
	old, err := f.old()
	for len(old) > f.rotation.Keep {
		err = errors.Join(err, os.Remove(old[0]))
		old = old[1:]
	}
	return err
}
