// Package images makes the suite's images and serves them from a registry in its own process.
package images

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
)

// ErrNotStatic says that a program needs files that an image of nothing else would not have.
var ErrNotStatic = errors.New("not a static program")

// Program is the one program of the images.
type Program struct {
	Path         string
	Architecture string // as in an image's configuration
}

// architectures are those of the ELF header, by the name that an image's configuration has for them.
var architectures = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

// Check looks at the file: a static Linux program for amd64 or arm64. Else the error is [ErrNotStatic] or says what it
// is.
func Check(path string) (Program, error) {
	f, err := elf.Open(path)
	if err != nil {
		return Program{}, fmt.Errorf("%s is not a Linux program: %w", path, err)
	}
	defer f.Close()
	architecture, ok := architectures[f.Machine]
	if !ok {
		return Program{}, fmt.Errorf("%s is for %s, want x86-64 or arm64", path, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return Program{}, fmt.Errorf("%s: %w: build it with CGO_ENABLED=0", path, ErrNotStatic)
		}
	}
	return Program{path, architecture}, nil
}

// Self is the running program.
func Self() (Program, error) {
	path, err := os.Executable()
	if err != nil {
		return Program{}, err
	}
	return Check(path)
}
