package lines

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// poll is how often a followed file is looked at when it has nothing new.
const poll = 100 * time.Millisecond

// File opens a file by its path, "-" is in.
func File(path string, in io.Reader) Opener {
	return Opener{Name: path, Open: func() (io.ReadCloser, error) {
		if path == "-" {
			return io.NopCloser(in), nil
		}
		return os.Open(path)
	}}
}

// Follow opens a file that grows and reads on as it does, until ctx is done: then it ends as a file does. It starts
// at the beginning, goes on with the new file when the path is rotated, and starts again when the file is truncated.
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
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case <-time.After(poll):
		}
	}
}

// turn goes to the beginning of a file that was truncated or took the path of this one.
func (f *follower) turn() (bool, error) {
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
	next, err := os.Open(f.path)
	if err != nil {
		return false, nil
	}
	old := f.file
	f.file, f.at = next, 0
	return true, old.Close()
}

// Close closes the file.
func (f *follower) Close() error {
	return f.file.Close()
}
