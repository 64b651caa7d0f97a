package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lanyard-dev/lanyard/examples/runtime/disk"
)

// Store keeps images in one directory. It is safe for concurrent use.
type Store struct {
	dir    string
	limits Limits
	inUse  func() map[string]bool

	mu     sync.Mutex
	images map[string]*Image        // by ID
	held   map[string]int           // layers that somebody counts on
	busy   map[string]chan struct{} // layers that somebody unpacks; closed when done
}

// Open opens the store in dir, which it makes, and removes what interrupted pulls left. inUse returns the layers that
// containers use, by diff ID: they stay although their image is removed. It may be nil.
func Open(dir string, limits Limits, inUse func() map[string]bool) (*Store, error) {
	s := &Store{
		dir: dir, limits: limits, inUse: inUse,
		images: map[string]*Image{}, held: map[string]int{}, busy: map[string]chan struct{}{},
	}
	if s.inUse == nil {
		s.inUse = func() map[string]bool { return nil }
	}
	if err := os.RemoveAll(s.path("tmp")); err != nil {
		return nil, err
	}
	for _, sub := range []string{"tmp", "images", "layers"} {
		if err := os.MkdirAll(s.path(sub), 0o700); err != nil {
			return nil, err
		}
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.collect()
}

func (s *Store) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *Store) load() error {
	files, err := filepath.Glob(s.path("images", "*.json"))
	if err != nil {
		return err
	}
	for _, f := range files {
		i, err := disk.ReadJSON[Image](f)
		if err != nil {
			return err
		}
		s.images[i.ID] = i
	}
	return nil
}

// List returns all images, ascending by ID.
func (s *Store) List() []Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Image, 0, len(s.images))
	for _, i := range s.images {
		out = append(out, *i)
	}
	slices.SortFunc(out, func(a, b Image) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Find returns the image that ref means: an ID, a tag or a digest. [ErrNotFound] if there is none.
func (s *Store) Find(ref string) (Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(ref)
	if i == nil {
		return Image{}, fmt.Errorf("image %q: %w", ref, ErrNotFound)
	}
	return *i, nil
}

func (s *Store) find(ref string) *Image {
	for _, i := range s.images {
		if i.matches(ref) {
			return i
		}
	}
	return nil
}

// Remove removes the image that ref means, under all its names, and the layers that nothing else uses. It is no error
// that there is none.
func (s *Store) Remove(ref string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(ref)
	if i == nil {
		return nil
	}
	if err := os.Remove(s.record(i.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(s.images, i.ID)
	return s.collect()
}

// Collect removes the layers that nothing uses any more; for when a container is gone.
func (s *Store) Collect() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.collect()
}

// LayerDirs returns the directories of the layers, in the same order. A layer that is not there is an error.
func (s *Store) LayerDirs(layers []string) ([]string, error) {
	out := make([]string, len(layers))
	for i, l := range layers {
		out[i] = s.layer(l)
		if _, err := os.Stat(out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Dir is the directory of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) record(id string) string { return s.path("images", hexOf(id)+".json") }

// layer is short on purpose: all layers of an image must fit into one page of mount options.
func (s *Store) layer(diffID string) string { return s.path("layers", hexOf(diffID)[:32]) }

func hexOf(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// collect removes unused layers; the caller holds the lock.
func (s *Store) collect() error {
	used := map[string]bool{}
	for l := range s.inUse() {
		used[filepath.Base(s.layer(l))] = true
	}
	for l := range s.held {
		used[filepath.Base(s.layer(l))] = true
	}
	for _, i := range s.images {
		for _, l := range i.Layers {
			used[filepath.Base(s.layer(l))] = true
		}
	}
	entries, err := os.ReadDir(s.path("layers"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !used[e.Name()] {
			err = errors.Join(err, s.discard(s.path("layers", e.Name())))
		}
	}
	return err
}

// discard moves a layer out of sight before it takes it apart, so that half a layer is never found.
func (s *Store) discard(layer string) error {
	tmp, err := os.MkdirTemp(s.path("tmp"), "gone-")
	if err != nil {
		return err
	}
	if err := os.Rename(layer, filepath.Join(tmp, "layer")); err != nil {
		return err
	}
	return os.RemoveAll(tmp)
}

// put stores the image, which takes over its tags from the images that had them. Nobody else's names change.
func (s *Store) put(i Image) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.images {
		kept := slices.DeleteFunc(slices.Clone(other.Tags), func(t string) bool { return slices.Contains(i.Tags, t) })
		switch {
		case other.ID == i.ID:
			i.Tags = union(i.Tags, other.Tags)
			i.Digests = union(i.Digests, other.Digests)
		case len(kept) != len(other.Tags):
			moved := *other
			moved.Tags = kept
			if err := disk.WriteJSON(s.record(moved.ID), moved); err != nil {
				return err
			}
			s.images[moved.ID] = &moved
		}
	}
	if err := disk.WriteJSON(s.record(i.ID), i); err != nil {
		return err
	}
	s.images[i.ID] = &i
	return nil
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
