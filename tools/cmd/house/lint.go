package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// lint runs gofumpt and gofmt, which lay out some tables differently, over every
// Go file that git knows, and staticcheck over every module; it prints all
// findings before it fails.
func lint(h *house.House, args []string) error {
	modules, err := selected(h, args)
	if err != nil {
		return err
	}
	faults := []error{format(h, modules)}
	var workspace []string
	for _, m := range modules {
		if m.InWorkspace() {
			workspace = append(workspace, m.Path()+"/...")
		} else {
			faults = append(faults, check(h, m.Dir, []string{"GOWORK=off"}, "./..."))
		}
	}
	if len(workspace) > 0 {
		faults = append(faults, check(h, "", nil, workspace...))
	}
	return errors.Join(faults...)
}

func format(h *house.House, modules []house.Module) error {
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.go")
	list.Dir = h.Root
	out, err := list.Output()
	if err != nil {
		return err
	}
	var files []string
	for _, file := range strings.Fields(string(out)) {
		if !strings.Contains(filepath.Base(file), "zz_generated") && within(file, modules) {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return errors.Join(formatted(h, lintTool(h, "gofumpt"), files), formatted(h, "gofmt", files))
}

func formatted(h *house.House, formatter string, files []string) error {
	cmd := exec.Command(formatter, append([]string{"-l"}, files...)...)
	cmd.Dir = h.Root
	found, err := cmd.CombinedOutput()
	name := filepath.Base(formatter)
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, found)
	}
	if len(bytes.TrimSpace(found)) > 0 {
		return fmt.Errorf("not formatted by %s:\n%s", name, found)
	}
	return nil
}

// within reports whether the file is in one of the modules.
func within(file string, modules []house.Module) bool {
	for _, m := range modules {
		if strings.HasPrefix(file, m.Dir+"/") {
			return true
		}
	}
	return false
}

func check(h *house.House, dir string, env []string, packages ...string) error {
	cmd := exec.Command(lintTool(h, "staticcheck"), packages...)
	cmd.Dir = filepath.Join(h.Root, dir)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("staticcheck in %s: %w", filepath.Join(".", dir), err)
	}
	return nil
}

// lintTool returns the path of a linter that the Makefile built from the versions
// pinned in tools/go.mod.
func lintTool(h *house.House, name string) string {
	return filepath.Join(h.Root, ".build", "bin", name)
}
