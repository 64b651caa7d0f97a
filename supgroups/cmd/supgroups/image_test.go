package main

import (
	"archive/tar"
	"bytes"
	"io"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	kepPasswd = "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:1000::/home/alice:/bin/sh\n"
	kepGroup  = "root:x:0:\nalice:x:1000:\ngroup-in-image:x:50000:alice\n"
)

// makeImage builds an image with one layer for each set of files.
func makeImage(tb testing.TB, user string, layers ...map[string]string) v1.Image {
	tb.Helper()
	image := empty.Image
	for _, files := range layers {
		l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return tarOf(files) })
		check(tb, err)
		image, err = mutate.AppendLayers(image, l)
		check(tb, err)
	}
	config, err := image.ConfigFile()
	check(tb, err)
	config = config.DeepCopy()
	config.Config.User, config.OS, config.Architecture = user, "linux", "amd64"
	image, err = mutate.ConfigFile(image, config)
	check(tb, err)
	return image
}

func kepImage(tb testing.TB) v1.Image {
	return makeImage(tb, "alice",
		map[string]string{"etc/passwd": "alice:x:7:7\n", "etc/group": "old:x:6:alice\n"},
		map[string]string{"etc/passwd": kepPasswd, "etc/group": kepGroup})
}

func tarOf(files map[string]string) (io.ReadCloser, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"etc/passwd", "etc/group"} {
		content, ok := files[name]
		if !ok {
			continue
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, content); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(&b), w.Close()
}

func writeArchive(tb testing.TB, path string, image v1.Image) string {
	tb.Helper()
	tag, err := name.NewTag("registry.example/test:1")
	check(tb, err)
	check(tb, tarball.WriteToFile(path, tag, image))
	return path
}

func writeLayout(tb testing.TB, dir string, images ...v1.Image) string {
	tb.Helper()
	p, err := layout.Write(dir, empty.Index)
	check(tb, err)
	for _, image := range images {
		check(tb, p.AppendImage(image, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: "amd64"})))
	}
	return dir
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
