// Package cross compiles modules for the systems that they promise to work on.
package cross

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
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

// Compile builds and vets the modules' own packages for the target and compiles their tests, not those of modules
// nested in their directories. It links nothing, so that a second run comes from the build cache. What the go command
// prints goes to w.
func Compile(w io.Writer, h *house.House, t Target, modules ...house.Module) error {
	var dirs, patterns []string
	for _, m := range modules {
		dirs, patterns = append(dirs, m.Dir), append(patterns, m.Path()+"/...")
	}
	run := func(verb string, args ...string) (string, error) {
		cmd := exec.Command("go", append([]string{verb}, args...)...)
		cmd.Dir = h.Root
		cmd.Env = append(h.WorkEnv(), "GOOS="+t.OS, "GOARCH="+t.Arch, "CGO_ENABLED=0")
		cmd.Stderr = w
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%s for %s: go %s: %w", strings.Join(dirs, ", "), t, verb, err)
		}
		return string(out), err
	}
	found, err := run("list", append([]string{"-f", "{{.Module.Path}} {{.ImportPath}}"}, patterns...)...)
	if err != nil {
		return err
	}
	var packages []string
	for line := range strings.Lines(found) {
		module, pkg, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.ContainsFunc(modules, func(m house.Module) bool { return m.Path() == module }) {
			packages = append(packages, pkg)
		}
	}
	for _, args := range [][]string{
		{"build"},
		{"vet"},
		{"list", "-test", "-export", "-f", ""},
	} {
		if _, err := run(args[0], append(args[1:], packages...)...); err != nil {
			return err
		}
	}
	return nil
}
