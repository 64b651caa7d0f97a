package testimage

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Program is where the reporter is in an image.
const Program = "/reporter"

// Spec says what an image holds. The zero value is an image of nothing.
type Spec struct {
	Reporter string            // path of the built reporter on this machine; empty for an image without it
	Shell    string            // path of a static shell on this machine; empty for an image without one
	Files    map[string]string // content by path, mode 0644, owner root
	Config   v1.Config         // as the image's configuration has it
}

// Build makes the image; one layer for the program, so that images share it, and one for the files.
func Build(s Spec) (v1.Image, error) {
	var layers []v1.Layer
	for _, program := range []struct{ at, from string }{{Program, s.Reporter}, {"/bin/sh", s.Shell}} {
		if program.from == "" {
			continue
		}
		b, err := os.ReadFile(program.from)
		if err != nil {
			return nil, err
		}
		l, err := Layer(File(program.at, 0o755, string(b)))
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	if len(s.Files) > 0 {
		l, err := Layer(files(s.Files)...)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return FromLayers(s.Config, layers...)
}

// FromLayers makes an image of layers, the lowest first.
func FromLayers(config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	i, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		return nil, err
	}
	file, err := i.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", architecture, config
	return mutate.ConfigFile(i, file)
}

// Entry is one entry of a layer: whatever an archive can hold, also what no honest layer does.
type Entry struct {
	tar.Header
	Content string
}

// File is a regular file of root's.
func File(name string, mode int64, content string) Entry {
	return Entry{tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(name, "/"), Mode: mode, Size: int64(len(content))}, content}
}

func files(contents map[string]string) (out []Entry) {
	for name, content := range contents {
		out = append(out, File(name, 0o644, content))
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(path.Clean(a.Name), path.Clean(b.Name)) })
	return out
}

// Layer makes an uncompressed layer of the entries, in this order.
func Layer(entries ...Entry) (v1.Layer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := e.Header
		if err := w.WriteHeader(&h); err != nil {
			return nil, fmt.Errorf("entry %q: %w", e.Name, err)
		}
		if _, err := io.WriteString(w, e.Content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return static.NewLayer(out.Bytes(), types.OCIUncompressedLayer), nil
}
