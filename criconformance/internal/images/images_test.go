package images_test

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
)

// program writes the beginning of a program for the machine, with a dynamic loader or without, and returns its path.
func program(t *testing.T, machine elf.Machine, dynamic bool) string {
	t.Helper()
	h := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Ehsize: 64, Phoff: 64, Phentsize: 56, Phnum: 1, Shentsize: 64,
	}
	p := elf.Prog64{Type: uint32(elf.PT_LOAD)}
	if dynamic {
		p.Type = uint32(elf.PT_INTERP)
	}
	var b bytes.Buffer
	for _, part := range []any{h, p} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, b.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheck(t *testing.T) {
	t.Run("CON-5 static programs for amd64 and arm64 will do", func(t *testing.T) {
		for machine, want := range map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"} {
			if p, err := images.Check(program(t, machine, false)); err != nil || p.Architecture != want {
				t.Errorf("Check = %+v, %v, want %s", p, err, want)
			}
		}
	})
	t.Run("CON-5 a dynamic one will not", func(t *testing.T) {
		if _, err := images.Check(program(t, elf.EM_X86_64, true)); !errors.Is(err, images.ErrNotStatic) {
			t.Errorf("Check = %v, want ErrNotStatic", err)
		}
	})
	t.Run("CON-5 nor one for another machine", func(t *testing.T) {
		if _, err := images.Check(program(t, elf.EM_386, false)); err == nil {
			t.Error("no error")
		}
	})
}

func build(t *testing.T, run string) []images.Named {
	t.Helper()
	p, err := images.Check(program(t, elf.EM_AARCH64, false))
	if err != nil {
		t.Fatal(err)
	}
	set, err := images.Build(p, []string{"A=1"}, run)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestBuild(t *testing.T) {
	set := build(t, "one")
	t.Run("CON-3 there is an image for each form of a user", func(t *testing.T) {
		for i, user := range append([]string{""}, images.Users()...) {
			file, err := set[i].Image.ConfigFile()
			if err != nil || file.Config.User != user || set[i].Tag != images.Tag(user) || file.Architecture != "arm64" {
				t.Errorf("image %d is %s for user %q, %v", i, set[i].Tag, file.Config.User, err)
			}
		}
	})
	t.Run("CON-8 another run's images are others, and a nameless run's the same", func(t *testing.T) {
		for i, other := range build(t, "two") {
			if id(t, other) == id(t, set[i]) {
				t.Errorf("%s is shared", other.Tag)
			}
		}
		nameless := build(t, "")
		for i, again := range build(t, "") {
			if id(t, again) != id(t, nameless[i]) {
				t.Errorf("%s is not reproducible", again.Tag)
			}
		}
	})
}

func id(t *testing.T, n images.Named) string {
	t.Helper()
	h, err := n.Image.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

func TestRegistry(t *testing.T) {
	r, err := images.Serve("run1")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("CON-5 it serves what was pushed", func(t *testing.T) {
		repository, err := r.Store(t.Context(), "x", build(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		ref, err := name.ParseReference(repository + ":base")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Image(ref); err != nil {
			t.Error(err)
		}
	})
	t.Run("CON-5 nobody else can put an image there", func(t *testing.T) {
		if err := images.Push(t.Context(), r.Repository()+"/x", build(t, "another")); err == nil {
			t.Error("an image was replaced")
		}
	})
	t.Run("CON-8 its run is alive until it is closed, and no other is", func(t *testing.T) {
		if !images.Alive(context.Background(), r.Port(), "run1") || images.Alive(context.Background(), r.Port(), "run2") {
			t.Error("the run is not the one that is alive")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if images.Alive(context.Background(), r.Port(), "run1") {
			t.Error("a dead run is alive")
		}
	})
}

func TestArchive(t *testing.T) {
	t.Run("CON-5 an OCI archive names each image", func(t *testing.T) {
		var b bytes.Buffer
		if err := images.Archive(&b, "localhost/conf", build(t, "")); err != nil {
			t.Fatal(err)
		}
		var files []string
		var index []byte
		r := tar.NewReader(&b)
		for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
			if err != nil {
				t.Fatal(err)
			}
			if files = append(files, h.Name); h.Name == "index.json" {
				if index, err = io.ReadAll(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !slices.Contains(files, "oci-layout") || bytes.Count(index, []byte(`"localhost/conf:`)) != 2*(1+len(images.Users())) {
			t.Errorf("files %q, index %s", files, index)
		}
	})
}
