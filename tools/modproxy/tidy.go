package modproxy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Tidy runs `go mod tidy` in the module's directory through the proxy. The sums of
// siblings are left out of its go.sum: WriteSums writes those that they have when
// their own are right.
func (p *Proxy) Tidy(root string, m house.Module) error {
	env, err := p.Env()
	if err != nil {
		return err
	}
	dir := filepath.Join(root, m.Dir)
	if err := DropSiblingSums(filepath.Join(dir, "go.sum")); err != nil {
		return err
	}
	cmd := exec.Command("go", "mod", "tidy")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go mod tidy in %s: %w", m.Dir, err)
	}
	return DropSiblingSums(filepath.Join(dir, "go.sum"))
}

// DropSiblingSums removes the lines of the tree's own modules from a go.sum; a
// file that does not exist stays absent.
func DropSiblingSums(file string) error {
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, house.Prefix+"/") {
			kept.WriteString(line)
		}
	}
	if kept.Len() == 0 {
		return os.Remove(file)
	}
	return os.WriteFile(file, []byte(kept.String()), 0o644)
}
