package layerfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// findings is what one layer says about a set of paths.
type findings struct {
	entries map[string]*entry
	implied map[string]bool // directories that have entries below but perhaps none of their own
	gone    map[string]bool // whited out
	opaque  map[string]bool
}

// read goes through layer i once, keeping only what concerns the places.
func (f *FS) read(i int, places []place) (*findings, error) {
	r, err := f.layers[i]()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f.opened++
	found := &findings{entries: map[string]*entry{}, implied: map[string]bool{}, gone: map[string]bool{}, opaque: map[string]bool{}}
	wanted := map[string]bool{}
	for _, at := range places {
		for p := at.path; p != "."; p = path.Dir(p) {
			wanted[p] = true
		}
	}
	t := tar.NewReader(&bounded{r: r, left: MaxLayerBytes})
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if err := found.note(h, t, wanted, i, n); err != nil {
			return nil, err
		}
	}
}

func (f *findings) note(h *tar.Header, content io.Reader, wanted map[string]bool, layer, n int) error {
	name := cleanName(h.Name)
	dir, base := path.Dir(name), path.Base(name)
	if base == opaque {
		f.opaque[dir] = true
		return nil
	}
	if hidden, ok := strings.CutPrefix(base, whiteout); ok {
		f.gone[path.Join(dir, hidden)] = true
		return nil
	}
	for p := dir; p != "."; p = path.Dir(p) {
		if wanted[p] {
			f.implied[p] = true
		}
	}
	if !wanted[name] {
		return nil
	}
	e, err := newEntry(h, content, layer, n)
	f.entries[name] = e
	return err
}

// decide returns what the layer makes of a path: an entry, a missing one where the layer hides what lies below, or nil
// where lower layers decide.
func (f *findings) decide(name string) *entry {
	if e := f.entries[name]; e != nil {
		return e
	}
	if f.implied[name] {
		return &entry{kind: directory}
	}
	if f.gone[name] {
		return &entry{kind: missing}
	}
	for p := path.Dir(name); p != "."; p = path.Dir(p) {
		if e := f.entries[p]; f.gone[p] || f.opaque[p] || e != nil && e.kind != directory {
			return &entry{kind: missing}
		}
	}
	if f.opaque["."] {
		return &entry{kind: missing}
	}
	return nil
}

// cleanName returns a tar entry's name as a path below the root.
func cleanName(name string) string {
	return strings.TrimPrefix(path.Join("/", name), "/")
}

// bounded fails once more is read than it allows.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", ErrLayerTooLarge, int64(MaxLayerBytes))
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
