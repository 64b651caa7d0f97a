package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// boundedFile refuses to be read past its limit.
type boundedFile struct {
	fs.File
	name string
	left int64
}

func (f *boundedFile) Read(p []byte) (int, error) {
	// One byte beyond the limit is asked for, to tell a file that ends there from one that goes on.
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1]
	}
	n, err := f.File.Read(p)
	if int64(n) > f.left {
		return int(f.left), fmt.Errorf("%q: %w: it grew past %d bytes", f.name, ErrTooLarge, maxFileBytes)
	}
	f.left -= int64(n)
	return n, quoted(err)
}

// lazyFile opens its file when it is first read. A missing file reads as an empty one.
type lazyFile struct {
	open func() (io.ReadCloser, error)
	file io.ReadCloser
}

func (r *Root) lazy(name string) *lazyFile {
	return &lazyFile{open: func() (io.ReadCloser, error) { return r.File(name) }}
}

func (f *lazyFile) Read(p []byte) (int, error) {
	if f.file == nil {
		file, err := f.open()
		if errors.Is(err, fs.ErrNotExist) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		f.file = file
	}
	return f.file.Read(p)
}

func (f *lazyFile) close() {
	if f.file != nil {
		f.file.Close()
	}
}
