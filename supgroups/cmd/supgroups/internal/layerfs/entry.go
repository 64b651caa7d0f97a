package layerfs

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"time"
)

type kind uint8

const (
	unknown kind = iota // not looked up yet
	missing
	regular
	directory
	symlink
	hardlink
	special
)

// entry is what a path is.
type entry struct {
	kind  kind
	link  string // of a symlink, as it is; of a hard link, a path below the root
	size  int64
	layer int
	index int    // which entry of the layer
	data  []byte // of a small regular file
}

func newEntry(h *tar.Header, content io.Reader, layer, index int) (*entry, error) {
	e := &entry{size: h.Size, layer: layer, index: index}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		e.kind = regular
		if h.Size > maxKept {
			return e, nil
		}
		data, err := io.ReadAll(content)
		e.data = data
		return e, err
	case tar.TypeDir:
		e.kind = directory
	case tar.TypeSymlink:
		e.kind, e.link = symlink, h.Linkname
	case tar.TypeLink:
		e.kind, e.link = hardlink, cleanName(h.Linkname)
		if e.link == "" {
			e.kind = special
		}
	default:
		e.kind = special
	}
	return e, nil
}

// content opens the bytes of an entry.
func (f *FS) content(e *entry) (io.ReadCloser, error) {
	if e.kind != regular || e.size <= maxKept {
		return io.NopCloser(bytes.NewReader(e.data)), nil
	}
	r, err := f.layers[e.layer]()
	if err != nil {
		return nil, err
	}
	f.opened++
	t := tar.NewReader(&bounded{r: r, left: MaxLayerBytes})
	for range e.index + 1 {
		if _, err := t.Next(); err != nil {
			r.Close()
			return nil, err
		}
	}
	return struct {
		io.Reader
		io.Closer
	}{t, r}, nil
}

type file struct {
	io.ReadCloser
	info info
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

type info struct {
	name  string
	entry *entry
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.entry.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.entry.kind == directory }
func (i info) Sys() any           { return nil }

func (i info) Mode() fs.FileMode {
	switch i.entry.kind {
	case regular:
		return 0o444
	case directory:
		return fs.ModeDir | 0o555
	case symlink:
		return fs.ModeSymlink | 0o777
	}
	return fs.ModeIrregular
}
