package testrun

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Options say how to run.
type Options struct {
	Print io.Writer // what people read
	Flags []string  // further flags of go test
}

// sideBySide is how many go commands run at once: while the tests of one wait for
// real processes, the other uses the cores.
const sideBySide = 2

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
	all, err := runAll(h, modules, o)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if err := OpenRecords(h).Save(m, digests[m.Dir], of(h, m, all)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func runAll(h *house.House, modules []house.Module, o Options) ([]Outcome, error) {
	todo, err := groups(h, modules)
	if err != nil {
		return nil, err
	}
	o.Print = &together{to: o.Print}
	outcomes, errs := make([][]Outcome, len(todo)), make([]error, len(todo))
	slots := make(chan struct{}, sideBySide)
	var running sync.WaitGroup
	for i, g := range todo {
		slots <- struct{}{} // taken here, so that groups start in their order
		running.Go(func() {
			defer func() { <-slots }()
			outcomes[i], errs[i] = g.run(h, o)
		})
	}
	running.Wait()
	var all []Outcome
	for _, some := range outcomes {
		all = append(all, some...)
	}
	return all, errors.Join(errs...)
}

// together lets several commands write, one call after the other.
type together struct {
	mu sync.Mutex
	to io.Writer
}

func (w *together) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// timeout bounds one package's tests.
const timeout = "60m"

func (g group) run(h *house.House, o Options) ([]Outcome, error) {
	cmd := exec.Command("go", g.args(o.Flags...)...)
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
func of(h *house.House, m house.Module, outcomes []Outcome) []Outcome {
	var out []Outcome
	for _, o := range outcomes {
		if owner, _ := h.Owner(o.Package); owner == m.Dir {
			out = append(out, o)
		}
	}
	return out
}
