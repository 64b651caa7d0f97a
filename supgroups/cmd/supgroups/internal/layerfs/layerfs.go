// Package layerfs shows the merged layers of an image as a file system without unpacking them.
//
// Only paths that are asked for are looked up, from the top layer down, and no layer below the deciding one is opened.
// Whiteouts, opaque directories and hard links count as the OCI image specification has them. Symbolic links are not
// followed: that is rootfs's part.
package layerfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
)

const (
	// MaxLayerBytes is the most that is read of one layer, uncompressed.
	MaxLayerBytes = 32 << 30 // 32 GiB
	// maxKept is the largest file whose content stays in memory; a larger one is read from its layer again.
	maxKept = 1 << 20 // 1 MiB
	// maxHardLinks is how many hard links may lead from one to the next.
	maxHardLinks = 40
)

var (
	// ErrLayerTooLarge means a layer of more than MaxLayerBytes.
	ErrLayerTooLarge = errors.New("layer too large")
	// ErrTooManyLinks means a chain or loop of hard links.
	ErrTooManyLinks = errors.New("too many hard links")
)

// Layer opens one layer as an uncompressed tar stream. It may be called more than once.
type Layer func() (io.ReadCloser, error)

// FS is the merged view. It implements fs.ReadLinkFS. It is not safe for concurrent use.
type FS struct {
	layers []Layer // lowest first
	known  map[place]*entry
	opened int // layers opened so far, for tests and curiosity
}

// place is a path as seen from the first n layers.
type place struct {
	path string
	n    int
}

// New returns the view of layers, lowest first, as manifests list them. hint are paths that will be asked for: they are
// looked up together, in one pass over the layers.
func New(layers []Layer, hint ...string) *FS {
	f := &FS{layers: layers, known: map[place]*entry{}}
	for _, name := range hint {
		f.want(name)
	}
	return f
}

// Opened returns how often a layer was opened.
func (f *FS) Opened() int { return f.opened }

// want notes that a path and its parents are to be looked up with the next pass.
func (f *FS) want(name string) {
	for p := name; p != "."; p = path.Dir(p) {
		at := place{p, len(f.layers)}
		if f.known[at] == nil {
			f.known[at] = &entry{}
		}
	}
}

// Lstat returns what name is, not following a symbolic link. A hard link is what it leads to.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	e, err := f.lookup("lstat", name)
	if err != nil {
		return nil, err
	}
	return info{name: path.Base(name), entry: e}, nil
}

// ReadLink returns the target of a symbolic link as in the layer.
func (f *FS) ReadLink(name string) (string, error) {
	e, err := f.lookup("readlink", name)
	if err != nil {
		return "", err
	}
	if e.kind != symlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return e.link, nil
}

// Open opens a regular file or a directory; a directory cannot be read.
func (f *FS) Open(name string) (fs.File, error) {
	e, err := f.lookup("open", name)
	if err != nil {
		return nil, err
	}
	content, err := f.content(e)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{ReadCloser: content, info: info{name: path.Base(name), entry: e}}, nil
}

func (f *FS) lookup(op, name string) (*entry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return &entry{kind: directory}, nil
	}
	at := place{name, len(f.layers)}
	for range maxHardLinks {
		e, err := f.resolve(at)
		if err == nil && e.kind == missing {
			err = fs.ErrNotExist
		}
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		if e.kind != hardlink {
			return e, nil
		}
		at = place{e.link, e.layer + 1}
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: ErrTooManyLinks}
}

// resolve looks a place up, and with it everything else that is waiting.
func (f *FS) resolve(at place) (*entry, error) {
	if f.known[at] == nil {
		f.known[at] = &entry{}
	}
	if e := f.known[at]; e.kind != unknown {
		return e, nil
	}
	if err := f.pass(); err != nil {
		return nil, err
	}
	return f.known[at], nil
}

// pass decides every waiting place, reading the layers from the top.
func (f *FS) pass() error {
	for i := len(f.layers) - 1; i >= 0; i-- {
		waiting := f.waiting(i)
		if len(waiting) == 0 {
			continue
		}
		found, err := f.read(i, waiting)
		if err != nil {
			return fmt.Errorf("layer %d: %w", i+1, err)
		}
		for _, at := range waiting {
			if e := found.decide(at.path); e != nil {
				f.known[at] = e
			}
		}
	}
	for at, e := range f.known {
		if e.kind == unknown {
			f.known[at] = &entry{kind: missing}
		}
	}
	return nil
}

// waiting returns the undecided places that layer i belongs to.
func (f *FS) waiting(i int) []place {
	return slices.Collect(func(yield func(place) bool) {
		for at := range maps.Keys(f.known) {
			if at.n > i && f.known[at].kind == unknown && !yield(at) {
				return
			}
		}
	})
}
