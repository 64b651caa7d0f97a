package ratio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Run runs the benchmarks of a module outside the workspace in the given number of
// rounds, each with every contender once, so that a slow moment of the machine
// does not fall on one contender alone. What fails is written to w. The load is
// that of all other programs while the benchmarks ran.
func Run(w io.Writer, h *house.House, m house.Module, rounds int, benchtime string) ([]*Point, Load, error) {
	dir := filepath.Join(h.Root, m.Dir)
	list := exec.Command("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./...")
	list.Dir, list.Env, list.Stderr = dir, append(os.Environ(), "GOWORK=off"), w
	packages, err := list.Output()
	if err != nil {
		return nil, Load{}, fmt.Errorf("listing the packages of %s: %w", m.Dir, err)
	}
	var results bytes.Buffer
	load := startLoad()
	for range rounds {
		for _, pkg := range strings.Fields(string(packages)) {
			cmd := exec.Command("go", "test", "-run=^$", "-bench=.", "-benchmem", "-benchtime="+benchtime, "-count=1", pkg)
			cmd.Dir, cmd.Env, cmd.Stderr = dir, list.Env, w
			out, err := cmd.Output()
			load.own(cmd.ProcessState)
			if err != nil {
				return nil, Load{}, fmt.Errorf("benchmarks of %s: %w\n%s", pkg, err, out)
			}
			results.Write(out)
		}
	}
	points, err := Parse(&results)
	return points, load.end(), err
}
