package images

import (
	"archive/tar"
	"bytes"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// File is where the program is in an image.
const File = "/reporter"

// RunLabel is the label of an image that was made for one run only.
const RunLabel = "dev.lanyard.criconformance.run"

// passwd and group make alice a member of a group that nobody asked for; "secret" is KEP-3619's example.
const (
	passwd = "root:x:0:0::/:\nalice:x:1000:1000::/:\n"
	group  = "root:x:0:\nalice:x:1000:\nstaff:x:2000:\nsecret:x:50000:alice\n"
)

// Named is an image under the tag by which the suite asks for it.
type Named struct {
	Tag   string
	Image v1.Image
}

// Base is the tag of the image without a user.
const Base = "base"

// Users are the image users, in the six forms that an image's configuration may have.
func Users() []string {
	return []string{"alice", "1000", "alice:staff", "1000:2000", "1000:staff", "alice:2000"}
}

// Tag is the tag of the image with the user.
func Tag(user string) string {
	if user == "" {
		return Base
	}
	return "user-" + strings.ReplaceAll(user, ":", "-")
}

// Build makes all images. They differ in their configuration alone, so that a runtime stores the program once. With a
// run, no other run's image is the same: removing one does not take away another's.
func Build(p Program, env []string, run string) ([]Named, error) {
	layers, err := layers(p)
	if err != nil {
		return nil, err
	}
	var out []Named
	for _, user := range append([]string{""}, Users()...) {
		config := v1.Config{User: user, Env: env, Entrypoint: []string{File}}
		if run != "" {
			config.Labels = map[string]string{RunLabel: run}
		}
		i, err := build(p, config, layers)
		if err != nil {
			return nil, err
		}
		out = append(out, Named{Tag(user), i})
	}
	return out, nil
}

func build(p Program, config v1.Config, layers []v1.Layer) (v1.Image, error) {
	i, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layers...)
	if err != nil {
		return nil, err
	}
	i = mutate.ConfigMediaType(i, types.OCIConfigJSON)
	file, err := i.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", p.Architecture, config
	return mutate.ConfigFile(i, file)
}

func layers(p Program) ([]v1.Layer, error) {
	program, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, err
	}
	first, err := layer(entry{File, 0o755, program})
	if err != nil {
		return nil, err
	}
	second, err := layer(entry{"/etc/passwd", 0o644, []byte(passwd)}, entry{"/etc/group", 0o644, []byte(group)})
	return []v1.Layer{first, second}, err
}

type entry struct {
	name    string
	mode    int64
	content []byte
}

func layer(entries ...entry) (v1.Layer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(e.name, "/"), Mode: e.mode, Size: int64(len(e.content))}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return static.NewLayer(out.Bytes(), types.OCIUncompressedLayer), nil
}
