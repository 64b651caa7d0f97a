package lines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// poll is how often a followed file is looked at when it has nothing new.
const poll = 100 * time.Millisecond

// File opens a file by its path, "-" is in. Again is set for a regular file.
func File(path string, in io.Reader) Opener {
	info, err := os.Stat(path)
	regular := path != "-" && err == nil && info.Mode().IsRegular()
	return Opener{Name: path, Again: regular, Open: func() (io.ReadCloser, error) {
		if path == "-" {
			return io.NopCloser(in), nil
		}
		return os.Open(path)
	}}
}

// Follow opens a file that grows and reads on as it does, until ctx is done: then it ends as a file does. It starts
// at the beginning, goes on with the new file when the path is rotated, and starts again when the file is truncated.
// A file that was rotated away is read to its end first; where the rotated ones are numbered in order, as those of
// execaudit/journal are (PATH.00000001, PATH.00000002), all between that one and the path's are read too.
func Follow(ctx context.Context, path string) Opener {
	return Opener{Name: path, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return &follower{ctx: ctx, path: path, file: f}, nil
	}}
}

type follower struct {
	ctx  context.Context
	path string
	file *os.File
	at   int64
	next *os.File // what follows file, once it is known; nothing comes to file any more
}

// Read waits for text.
func (f *follower) Read(p []byte) (int, error) {
	for {
		n, err := f.file.Read(p)
		f.at += int64(n)
		if n > 0 || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		turned, err := f.turn()
		if err != nil {
			return 0, err
		}
		if turned && len(p) > 0 {
			p[0] = '\n' // the old file's last line does not run into the new one's first
			return 1, nil
		}
		if f.next != nil {
			continue // what came before the rotation
		}
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case <-time.After(poll):
		}
	}
}

// turn goes to the beginning of a file that was truncated, or to the next one. That one it finds first, and then
// leaves the old one to be read again: something may have come to it between its end and its rotation.
func (f *follower) turn() (bool, error) {
	if f.next != nil {
		old := f.file
		f.file, f.at, f.next = f.next, 0, nil
		return true, old.Close()
	}
	here, err := f.file.Stat()
	if err != nil {
		return false, err
	}
	if here.Size() < f.at {
		f.at = 0
		_, err := f.file.Seek(0, io.SeekStart)
		return true, err
	}
	there, err := os.Stat(f.path)
	if err != nil || os.SameFile(here, there) {
		return false, nil // rotation renames first and makes the new file a moment later
	}
	if f.next, err = os.Open(successor(f.path, here)); err != nil {
		f.next = nil
	}
	return false, nil
}

// numberDigits is how many digits a rotated file's name has at least, if higher numbers are later files.
const numberDigits = 8

// successor returns what follows a file that was rotated away: the file of the next number, or path.
func successor(path string, here os.FileInfo) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return path
	}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		n, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || len(digits) < numberDigits {
			continue
		}
		if info, err := e.Info(); err != nil || !os.SameFile(info, here) {
			continue
		}
		next := fmt.Sprintf("%s.%0*d", path, numberDigits, n+1)
		if _, err := os.Lstat(next); err == nil {
			return next
		}
	}
	return path
}

// Close closes the file.
func (f *follower) Close() error {
	if f.next != nil {
		_ = f.next.Close() // it was not read
	}
	return f.file.Close()
}
