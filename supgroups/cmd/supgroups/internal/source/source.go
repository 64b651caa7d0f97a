// Package source opens an image from a docker archive, an OCI layout or a registry, and reads no more of it than asked.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/layerfs"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

// ErrNoImage means an OCI layout without an image for the platform.
var ErrNoImage = errors.New("no image for the platform")

// Image is what has to be known of an image: its user and its files.
type Image struct {
	// User is config.User.
	User string
	// Files are the merged layers.
	Files *layerfs.FS
}

// Open opens where: a file is a docker archive, a directory an OCI layout, everything else a reference to a registry,
// with the credentials of the docker configuration. Layers are fetched when they are looked into.
func Open(ctx context.Context, where string, platform v1.Platform) (*Image, error) {
	image, err := open(ctx, where, platform)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	layers, err := image.Layers()
	if err != nil {
		return nil, fmt.Errorf("layers: %w", err)
	}
	return &Image{User: config.Config.User, Files: layerfs.New(openers(ctx, layers), rootfs.Passwd, rootfs.Group)}, nil
}

func open(ctx context.Context, where string, platform v1.Platform) (v1.Image, error) {
	info, err := os.Stat(where)
	switch {
	case err == nil && info.IsDir():
		return fromLayout(where, platform)
	case err == nil:
		return tarball.ImageFromPath(where, nil)
	}
	ref, err := name.ParseReference(where)
	if err != nil {
		return nil, err
	}
	return remote.Image(ref, remote.WithContext(ctx), remote.WithPlatform(platform), remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

func fromLayout(dir string, platform v1.Platform) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	return pick(index, platform)
}

// pick returns the first image of an index that suits the platform, looking into nested indexes.
func pick(index v1.ImageIndex, platform v1.Platform) (v1.Image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, d := range manifest.Manifests {
		switch {
		case d.MediaType.IsIndex():
			nested, err := index.ImageIndex(d.Digest)
			if err != nil {
				return nil, err
			}
			if image, err := pick(nested, platform); !errors.Is(err, ErrNoImage) {
				return image, err
			}
		case d.MediaType.IsImage() && (d.Platform == nil || d.Platform.Satisfies(platform)):
			return index.Image(d.Digest)
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNoImage, platform)
}

func openers(ctx context.Context, layers []v1.Layer) []layerfs.Layer {
	out := make([]layerfs.Layer, len(layers))
	for i, l := range layers {
		out[i] = func() (io.ReadCloser, error) {
			r, err := l.Uncompressed()
			if err != nil {
				return nil, err
			}
			return cancellable{ctx, r}, nil
		}
	}
	return out
}

// cancellable is a stream that ends with its context.
type cancellable struct {
	ctx context.Context
	io.ReadCloser
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.ReadCloser.Read(p)
}
