package testrun

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Options say how to run.
type Options struct {
	Print io.Writer // what people read
	Flags []string  // further flags of go test
}

// group is a set of modules that one go command tests.
type group struct {
	modules []house.Module
	dir     string // below the root
	env     []string
	flags   []string
}

// Run tests the modules and records the outcome of each. The error is about the
// running; failed tests are in the outcomes.
func Run(h *house.House, modules []house.Module, o Options) ([]Outcome, error) {
	digests := map[string]string{}
	for _, m := range modules {
		digest, err := h.Digest(m)
		if err != nil {
			return nil, err
		}
		digests[m.Dir] = digest
	}
	var all []Outcome
	for _, g := range groups(modules) {
		outcomes, err := g.run(h, o)
		if err != nil {
			return nil, err
		}
		for _, m := range g.modules {
			if err := OpenRecords(h).Save(m, digests[m.Dir], of(m, h.Modules, outcomes)); err != nil {
				return nil, err
			}
		}
		all = append(all, outcomes...)
	}
	return all, nil
}

// groups puts the published modules into one go command, which then fills all
// cores; the examples run real containers, so their packages run one after the
// other and never from the cache; modules outside the workspace run each alone,
// the tools never from the cache because they read the whole tree.
func groups(modules []house.Module) []group {
	var published, examples group
	var alone []group
	for _, m := range modules {
		switch {
		case m.Published():
			published.modules = append(published.modules, m)
		case m.Kind == house.Examples:
			examples.modules = append(examples.modules, m)
		default:
			g := group{modules: []house.Module{m}, dir: m.Dir, env: []string{"GOWORK=off"}}
			if m.Kind == house.Tools {
				g.flags = []string{"-count=1"}
			}
			alone = append(alone, g)
		}
	}
	examples.flags = []string{"-count=1", "-p=1"}
	var out []group
	for _, g := range append([]group{published, examples}, alone...) {
		if len(g.modules) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// timeout bounds one package's tests.
const timeout = "30m"

func (g group) run(h *house.House, o Options) ([]Outcome, error) {
	args := append([]string{"test", "-race", "-json", "-timeout=" + timeout}, g.flags...)
	args = append(args, o.Flags...)
	for _, m := range g.modules {
		if g.dir == "" {
			args = append(args, m.Path()+"/...")
		} else {
			args = append(args, "./...")
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(h.Root, g.dir)
	cmd.Env = append(os.Environ(), append(g.env, "LANYARD_BIN="+filepath.Join(h.Root, ".build", "bin"))...)
	cmd.Stderr = o.Print
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := newReader(o.Print)
	readErr := r.readAll(out)
	waitErr := cmd.Wait()
	if err := errors.Join(readErr, exitless(waitErr)); err != nil {
		return nil, err
	}
	if waitErr != nil && Count(r.outcomes, false).Failed == 0 {
		return nil, fmt.Errorf("go test of %s: %w, with no failed test", names(g.modules), waitErr)
	}
	return r.outcomes, nil
}

// exitless drops the error that only says that a test failed.
func exitless(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

func names(modules []house.Module) string {
	dirs := make([]string, len(modules))
	for i, m := range modules {
		dirs[i] = m.Dir
	}
	return strings.Join(dirs, ", ")
}

// of returns the outcomes of m's own packages: nested modules have their own.
func of(m house.Module, all []house.Module, outcomes []Outcome) []Outcome {
	var out []Outcome
	for _, o := range outcomes {
		if owner(o.Package, all) == m.Dir {
			out = append(out, o)
		}
	}
	return out
}

func owner(pkg string, all []house.Module) string {
	best := ""
	for _, m := range all {
		inside := pkg == m.Path() || strings.HasPrefix(pkg, m.Path()+"/")
		if inside && len(m.Dir) > len(best) {
			best = m.Dir
		}
	}
	return best
}
