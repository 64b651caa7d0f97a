package lines

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Rotation says when a file's lines go on in a new one. The zero value is never.
type Rotation struct {
	// Bytes is the size of the largest file, except one that a single append makes larger.
	Bytes int64
	// Keep is how many rotated files are kept, the newest; 0 is all.
	Keep int
}

// File is a file that whole lines are appended to. It is for one goroutine.
type File struct {
	name     string
	rotation Rotation
	file     *os.File
	size     int64
	number   uint64 // of the file that was rotated last
	rest     []byte // of a line that the disk had no room for
	rotated  error
}

// Standard is the name of the standard output, which is not rotated.
const Standard = "-"

// Open opens the file, which is made for its owner alone if it is not there, with its directory. A last line that a
// kill left unfinished is ended: a reader tells it as one that cannot be used, and what follows stands on lines of its
// own. It is not cut off, since who ships the file may have read it.
func Open(name string, rotation Rotation) (*File, error) {
	f := &File{name: name, rotation: rotation}
	if name == Standard {
		f.file = os.Stdout
		return f, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return f, f.open()
}

func (f *File) open() error {
	file, err := os.OpenFile(f.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	size, err := whole(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if f.file != nil {
		_ = f.file.Close() // it was synced, or somebody else has it now
	}
	f.file, f.size, f.rest = file, size, nil
	return nil
}

// whole ends the last line if it has no end, and returns the file's size.
func whole(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return 0, err
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil || last[0] == '\n' {
		return info.Size(), err
	}
	_, err = file.WriteString("\n")
	return info.Size() + 1, err
}

// Append writes lines, each with its end, into one file. After an error that the disk makes, some of them may be there:
// whole but for the last, whose rest is what the next append begins with. A rotation that fails is no error here, see
// Rotated.
func (f *File) Append(lines []byte) error {
	if f.file == nil {
		return os.ErrClosed
	}
	f.rotated = f.turn(len(f.rest) + len(lines))
	if len(f.rest) > 0 {
		n, err := f.write(f.rest)
		f.rest = f.rest[n:]
		if err != nil {
			return err
		}
	}
	n, err := f.write(lines)
	if n > 0 && n < len(lines) && lines[n-1] != '\n' {
		left := lines[n:]
		f.rest = bytes.Clone(left[:bytes.IndexByte(left, '\n')+1])
	}
	return err
}

func (f *File) write(data []byte) (int, error) {
	n, err := f.file.Write(data)
	f.size += int64(n)
	return n, err
}

// Rotated returns why the file could not be rotated when lines were appended last: they go on in the one that is open.
func (f *File) Rotated() error { return f.rotated }

// Size is the open file's, in bytes.
func (f *File) Size() int64 { return f.size }

// Close has what was written on the disk.
func (f *File) Close() error {
	file := f.file
	if file == nil {
		return nil
	}
	f.file = nil
	if f.name == Standard {
		return nil
	}
	return errors.Join(file.Sync(), file.Close())
}
