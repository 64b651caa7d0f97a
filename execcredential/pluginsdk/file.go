package pluginsdk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

var errNotPrivate = errors.New("file is open to others")

// readPrivate reads a regular file that only its owner may use, up to maxCacheBytes.
func readPrivate(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !private(info) || info.Size() > maxCacheBytes {
		return nil, errNotPrivate
	}
	return io.ReadAll(io.LimitReader(file, maxCacheBytes))
}

const (
	firstWait = 5 * time.Millisecond
	lastWait  = 100 * time.Millisecond
)

// lock takes the lock on a file, which is made when absent and stays. It asks again and again, because no system has a
// wait for a file lock that a context can end.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := tryLock(file)
		if err == nil {
			return func() { file.Close() }, nil // closing gives the lock back
		}
		if !errors.Is(err, errLocked) {
			file.Close()
			return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

var errLocked = errors.New("locked")
