// Package fuzz finds and runs the fuzz targets of modules.
package fuzz

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Target is one fuzz function.
type Target struct {
	Package string
	Name    string
}

// Targets returns the fuzz functions of the module, in the order of its packages.
func Targets(h *house.House, m house.Module) ([]Target, error) {
	cmd := exec.Command("go", "test", "-list", "^Fuzz", m.Path()+"/...")
	cmd.Dir, cmd.Env = h.Root, h.WorkEnv()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the fuzz targets of %s: %w", m.Dir, err)
	}
	var targets []Target
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) >= 2 && fields[0] == "ok":
			for _, name := range names {
				targets = append(targets, Target{fields[1], name})
			}
			names = nil
		}
	}
	return targets, lines.Err()
}

// minimize bounds the time for making one interesting input smaller. By itself the go command takes a minute for each,
// which is all the time that a target has.
const minimize = "-fuzzminimizetime=1s"

// Run fuzzes the target for d. What the go command prints goes to w.
func Run(w io.Writer, h *house.House, t Target, d time.Duration) error {
	cmd := exec.Command("go", "test", "-run=^$", "-fuzz=^"+t.Name+"$", "-fuzztime="+d.String(), minimize, t.Package)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.Root, h.WorkEnv(), w, w
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", t.Package, t.Name, err)
	}
	return nil
}
