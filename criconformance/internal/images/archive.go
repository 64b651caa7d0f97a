package images

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// Archive writes the images as one OCI archive, each under repository:tag in the annotations by which importers name
// them.
func Archive(w io.Writer, repository string, set []Named) (err error) {
	dir, err := os.MkdirTemp("", "criconformance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	for _, n := range set {
		ref := repository + ":" + n.Tag
		err := path.AppendImage(n.Image, layout.WithAnnotations(map[string]string{
			"org.opencontainers.image.ref.name": ref, "io.containerd.image.name": ref,
		}), layout.WithPlatform(platform(n.Image)))
		if err != nil {
			return err
		}
	}
	return tarDir(w, dir)
}

func platform(i v1.Image) v1.Platform {
	p := v1.Platform{OS: "linux"}
	if file, err := i.ConfigFile(); err == nil {
		p.Architecture = file.Architecture
	}
	return p
}

// tarDir writes the directory's files in the order of their names.
func tarDir(w io.Writer, dir string) error {
	out := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h := tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(content))}
		if err := out.WriteHeader(&h); err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	})
	return errors.Join(err, out.Close())
}
