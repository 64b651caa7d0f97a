// Package cross compiles modules for the systems that they promise to work on.
package cross

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

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

// Compile builds and vets the modules for the target and compiles their tests; it
// links nothing but commands, so that a second run comes from the build cache. What the go
// command prints goes to w.
func Compile(w io.Writer, h *house.House, t Target, modules ...house.Module) error {
	var packages, dirs []string
	for _, m := range modules {
		packages, dirs = append(packages, m.Path()+"/..."), append(dirs, m.Dir)
	}
	for _, args := range [][]string{
		{"build"},
		{"vet"},
		{"list", "-test", "-export", "-f", ""},
	} {
		cmd := exec.Command("go", append(args, packages...)...)
		cmd.Dir = h.Root
		cmd.Env = append(h.WorkEnv(), "GOOS="+t.OS, "GOARCH="+t.Arch, "CGO_ENABLED=0")
		cmd.Stderr = w
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s for %s: go %s: %w", strings.Join(dirs, ", "), t, args[0], err)
		}
	}
	return nil
}
