package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrNotRegular means that a path leads to something that is not a regular file: a directory, a device, a pipe.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge means a file larger than 1 GiB.
	ErrTooLarge = errors.New("file too large")
	// ErrTooManyLinks means a path with more than 40 symbolic links, such as a loop.
	ErrTooManyLinks = errors.New("too many symbolic links")
)

// pathError is a file system's error with its path quoted in the text: behind a link the image wrote the path, and a
// terminal obeys what is in it. errors.As still finds the *fs.PathError, whose Path is as it was.
type pathError struct{ *fs.PathError }

func (e pathError) Error() string { return fmt.Sprintf("%s %q: %v", e.Op, e.Path, e.Err) }

func (e pathError) Unwrap() error { return e.PathError }

// quoted returns err with its path quoted. Anything that is not itself an *fs.PathError, such as io.EOF, is unchanged.
func quoted(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return pathError{e}
	}
	return err
}
