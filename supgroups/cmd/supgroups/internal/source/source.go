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

var (
	// ErrNoImage means an OCI layout without an image for the platform.
	ErrNoImage = errors.New("no image for the platform")
	// ErrNotImage means a path to something that cannot be an archive or a layout: a device, a pipe, a socket.
	ErrNotImage = errors.New("neither a file nor a directory")
	// ErrPath means a pod's image that is written as a path.
	ErrPath = errors.New("a path is not a reference to a registry")
)

// Image is what has to be known of an image: its user and its files.
type Image struct {
	// User is config.User.
	User string
	// Files are the merged layers.
	Files *layerfs.FS
}

// Open opens an image: at a local path a file is a docker archive and a directory an OCI layout, and links are
// followed; for a reference its registry is asked, with the credentials of the docker configuration. Layers are fetched
// when they are looked into. Errors hold words of the image and of the registry: untrusted.
func Open(ctx context.Context, where Where, platform v1.Platform) (*Image, error) {
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

func open(ctx context.Context, where Where, platform v1.Platform) (v1.Image, error) {
	if where.local {
		return fromPath(where.text, platform)
	}
	image, err := fromRegistry(ctx, where.text, platform)
	if err != nil && where.mistaken() {
		return nil, fmt.Errorf("%w (if the file is meant, write %q)", err, "./"+where.text)
	}
	return image, err
}

func fromRegistry(ctx context.Context, text string, platform v1.Platform) (v1.Image, error) {
	if isPath(text) {
		return nil, ErrPath
	}
	ref, err := name.ParseReference(text)
	if err != nil {
		return nil, err
	}
	return remote.Image(ref, remote.WithContext(ctx), remote.WithPlatform(platform), remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

func fromPath(path string, platform v1.Platform) (v1.Image, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return fromLayout(path, platform)
	case info.Mode().IsRegular():
		return tarball.ImageFromPath(path, nil)
	}
	return nil, fmt.Errorf("%w: %s", ErrNotImage, info.Mode().Type())
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
