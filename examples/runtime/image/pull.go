package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Pull fetches the image from its registry unless all of it is there, stores it under ref and returns it. Plain HTTP is
// spoken to loopback registries only. An error of the registry is a *transport.Error, one of a layer a *LayerError.
func (s *Store) Pull(ctx context.Context, ref string, auth authn.AuthConfig) (Image, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return Image{}, err
	}
	connections := transport()
	defer connections.CloseIdleConnections()
	remoteImage, digest, err := fetch(ctx, parsed, auth, connections)
	if err != nil {
		return Image{}, err
	}
	i, layers, err := describe(parsed, digest, remoteImage)
	if err != nil {
		return Image{}, err
	}
	defer s.Hold(i.Layers)()
	for n, l := range layers {
		if err := s.ensure(ctx, i.Layers[n], l); err != nil {
			return Image{}, err
		}
	}
	if err := s.put(i); err != nil {
		return Image{}, err
	}
	return s.Find(i.ID)
}

// fetch asks the registry for the manifest, of this machine's platform where there are several.
func fetch(ctx context.Context, ref name.Reference, auth authn.AuthConfig, over http.RoundTripper) (v1.Image, v1.Hash, error) {
	d, err := remote.Get(ref,
		remote.WithContext(ctx),
		remote.WithAuth(authn.FromConfig(auth)),
		remote.WithTransport(over),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}),
	)
	if err != nil {
		return nil, v1.Hash{}, err
	}
	i, err := d.Image()
	return i, d.Digest, err
}

func describe(ref name.Reference, digest v1.Hash, remoteImage v1.Image) (Image, []v1.Layer, error) {
	id, err := remoteImage.ConfigName()
	if err != nil {
		return Image{}, nil, err
	}
	config, err := remoteImage.ConfigFile()
	if err != nil {
		return Image{}, nil, err
	}
	layers, err := remoteImage.Layers()
	if err != nil {
		return Image{}, nil, err
	}
	if len(layers) != len(config.RootFS.DiffIDs) {
		return Image{}, nil, fmt.Errorf("image has %d layers and %d diff IDs", len(layers), len(config.RootFS.DiffIDs))
	}
	i := Image{ID: id.String(), Digests: []string{normal(ref.Context().Digest(digest.String()))}, Config: config.Config}
	if tag, ok := ref.(name.Tag); ok {
		i.Tags = []string{normal(tag)}
	}
	for n, l := range layers {
		size, err := l.Size()
		if err != nil {
			return Image{}, nil, err
		}
		i.Size += uint64(size)
		i.Layers = append(i.Layers, config.RootFS.DiffIDs[n].String())
	}
	return i, layers, nil
}

// Hold keeps the layers from being collected until release is called; for those about to be used.
func (s *Store) Hold(layers []string) (release func()) {
	add := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, l := range layers {
			if s.held[l] += n; s.held[l] == 0 {
				delete(s.held, l)
			}
		}
	}
	add(1)
	return func() {
		add(-1)
		// What a pull that came to nothing brought is of no use; the next start would remove it too.
		_ = s.Collect()
	}
}

// ensure unpacks the layer unless it is there. One pull at a time does it, the others wait and look again.
func (s *Store) ensure(ctx context.Context, diffID string, l v1.Layer) error {
	for {
		wait, free := s.claim(diffID)
		if wait == nil {
			defer free()
			break
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if _, err := os.Stat(s.layer(diffID)); err == nil {
		return nil
	}
	err := s.unpack(diffID, l)
	var le *LayerError
	if errors.As(err, &le) {
		le.Layer = diffID
		return le
	}
	if err != nil {
		return &LayerError{Layer: diffID, Err: err}
	}
	return nil
}

// claim makes the caller the one who unpacks the layer, until it calls free; or tells it for whom to wait.
func (s *Store) claim(diffID string) (wait <-chan struct{}, free func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch, ok := s.busy[diffID]; ok {
		return ch, nil
	}
	ch := make(chan struct{})
	s.busy[diffID] = ch
	return nil, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, diffID)
		close(ch)
	}
}

func (s *Store) unpack(diffID string, l v1.Layer) error {
	tmp, err := os.MkdirTemp(s.path("tmp"), "layer-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	// The directory becomes the container's "/", unless the layer says otherwise.
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	archive, err := l.Uncompressed()
	if err != nil {
		return err
	}
	defer archive.Close()
	sum := sha256.New()
	if err := Unpack(tmp, io.TeeReader(archive, sum), s.limits); err != nil {
		return err
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != diffID {
		return fmt.Errorf("%w: got %s", ErrDigest, got)
	}
	return os.Rename(tmp, s.layer(diffID))
}
