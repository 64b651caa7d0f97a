// Package cross compiles modules for the systems that they promise to work on.
package cross

import (
	"fmt"
	"io"
	"os/exec"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Target is an operating system and an architecture, by their Go names.
type Target struct {
	OS, Arch string
}

// String returns the pair as the go command lists it.
func (t Target) String() string { return t.OS + "/" + t.Arch }

// Targets returns the systems that library modules promise, in a fixed order.
func Targets() []Target {
	var out []Target
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			out = append(out, Target{system, arch})
		}
	}
	return out
}

// Compile builds and vets the module for the target and compiles its tests; it
// links nothing, so that a second run comes from the build cache. What the go
// command prints goes to w.
func Compile(w io.Writer, h *house.House, m house.Module, t Target) error {
	packages := m.Path() + "/..."
	for _, args := range [][]string{
		{"build", packages},
		{"vet", packages},
		{"list", "-test", "-export", "-f", "", packages},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = h.Root
		cmd.Env = append(h.WorkEnv(), "GOOS="+t.OS, "GOARCH="+t.Arch, "CGO_ENABLED=0")
		cmd.Stderr = w
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s for %s: go %s: %w", m.Dir, t, args[0], err)
		}
	}
	return nil
}
