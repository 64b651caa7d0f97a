package testrun

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// group is a set of packages that one go command tests.
type group struct {
	modules  []house.Module
	packages []string
	dir      string // below the root
	env      []string
	flags    []string
}

// uncached makes the go command run tests whose results depend on more than it looks at.
const uncached = "-count=1"

// groups returns the go commands that test the modules, the longest first.
//
//   - Packages of the examples that run the real programs never come from the cache, because the go command
//     does not see those programs, nor the kernel.
//   - The published modules and the other examples share one command, which fills all cores and may take
//     results from the cache.
//   - Modules outside the workspace run each alone. The tools are uncached because they read the whole tree, and
//     run without the race detector, as what they test are other processes.
func groups(h *house.House, modules []house.Module) ([]group, error) {
	workspace := group{flags: []string{"-race"}}
	real := group{flags: []string{"-race", uncached}}
	var alone []group
	for _, m := range modules {
		switch {
		case m.Published():
			workspace.modules = append(workspace.modules, m)
			workspace.packages = append(workspace.packages, m.Path()+"/...")
		case m.Kind == house.Examples:
			programs, others, err := split(h, m)
			if err != nil {
				return nil, err
			}
			real.modules, real.packages = append(real.modules, m), append(real.packages, programs...)
			workspace.modules, workspace.packages = append(workspace.modules, m), append(workspace.packages, others...)
		default:
			g := group{modules: []house.Module{m}, packages: []string{"./..."}, dir: m.Dir, env: []string{"GOWORK=off"}}
			if m.Kind == house.Tools {
				g.flags = []string{uncached}
			} else {
				g.flags = []string{"-race"}
			}
			alone = append(alone, g)
		}
	}
	var out []group
	for _, g := range append([]group{real, workspace}, alone...) {
		if len(g.packages) > 0 {
			out = append(out, g)
		}
	}
	return out, nil
}

// args returns the arguments of the go command.
func (g group) args(more ...string) []string {
	args := append([]string{"test", "-json", "-timeout=" + timeout}, g.flags...)
	return append(append(args, more...), g.packages...)
}

// Commands returns the arguments of the go commands that Run runs for the modules.
func Commands(h *house.House, modules []house.Module) ([][]string, error) {
	todo, err := groups(h, modules)
	if err != nil {
		return nil, err
	}
	var out [][]string
	for _, g := range todo {
		out = append(out, g.args())
	}
	return out, nil
}

// finder is the package by which tests find the real programs.
const finder = "/parts"

// split returns the packages of m whose tests run the real programs, and the others.
func split(h *house.House, m house.Module) (programs, others []string, _ error) {
	cmd := exec.Command("go", "list", "-test", "-f", `{{if not .ForTest}}{{.ImportPath}} {{join .Deps " "}}{{end}}`, m.Path()+"/...")
	cmd.Dir, cmd.Env = h.Root, h.WorkEnv()
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("listing the packages of %s: %w", m.Dir, err)
	}
	var all, real []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		pkg, isTest := strings.CutSuffix(fields[0], ".test")
		if !isTest {
			all = append(all, pkg)
		} else if slices.Contains(fields[1:], m.Path()+finder) {
			real = append(real, pkg)
		}
	}
	return real, slices.DeleteFunc(all, func(pkg string) bool { return slices.Contains(real, pkg) }), nil
}
