// Package promises_test checks the promises that every module of the repository
// makes, for each module in the list.
package promises_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/apilist"
	"github.com/lanyard-dev/lanyard/tools/house"
)

func open(t *testing.T) *house.House {
	t.Helper()
	h, err := house.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// eachLibrary runs f for every library module as a subtest that carries the
// requirement's ID.
func eachLibrary(t *testing.T, id string, f func(t *testing.T, h *house.House, m house.Module)) {
	t.Helper()
	h := open(t)
	for _, m := range h.Select(house.Library) {
		t.Run(id+" "+m.Dir, func(t *testing.T) { f(t, h, m) })
	}
}

func exported(t *testing.T, h *house.House, m house.Module) []*apilist.Package {
	t.Helper()
	packages, err := apilist.Load(h, m)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatalf("%s has no package that others can import", m.Dir)
	}
	return packages
}

// goLines returns the lines that a go command prints in a directory of the tree.
func goLines(t *testing.T, h *house.House, dir string, args ...string) []string {
	t.Helper()
	return goLinesIn(t, filepath.Join(h.Root, dir), h.WorkEnv(), args...)
}

// goLinesFor is goLines at the root, for another system.
func goLinesFor(t *testing.T, h *house.House, system string, args ...string) []string {
	t.Helper()
	return goLinesIn(t, h.Root, append(h.WorkEnv(), "GOOS="+system), args...)
}

func goLinesIn(t *testing.T, dir string, env []string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.Fields(string(out))
}
