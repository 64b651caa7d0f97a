package modproxy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Prove builds, vets and tests m at its version in a scratch directory outside the
// workspace, where siblings come from the proxy alone and must be what its go.sum
// says. What the go command prints goes to w. Where the go.sum is wrong, the error is
// ErrSums too.
func (p *Proxy) Prove(w io.Writer, m house.Module) error {
	scratch, err := os.MkdirTemp("", "lanyard-module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := p.goIn(w, scratch, "mod", "download", m.Path()+"@"+m.Version); err != nil {
		return err
	}
	fetched := filepath.Join(p.Cache(), filepath.FromSlash(m.Path())+"@"+m.Version)
	if err := copyTree(scratch, fetched); err != nil {
		return err
	}
	for _, args := range [][]string{{"build", "./..."}, {"vet", "./..."}, {"test", "-vet=off", "./..."}} {
		var said strings.Builder
		err := p.goIn(io.MultiWriter(w, &said), scratch, append([]string{args[0], "-mod=readonly"}, args[1:]...)...)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Dir, errors.Join(err, ofSums(said.String())))
		}
	}
	return nil
}

// ofSums returns ErrSums where the go command complains of a go.sum, and else nil.
func ofSums(said string) error {
	for _, words := range []string{"checksum mismatch", "missing go.sum entry"} {
		if strings.Contains(said, words) {
			return ErrSums
		}
	}
	return nil
}

// Consume makes a fresh module, fetches m at its version as a user would, and
// runs program in it. It returns what the program printed.
func (p *Proxy) Consume(m house.Module, program string) (string, error) {
	scratch, err := os.MkdirTemp("", "lanyard-consumer-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	if err := os.WriteFile(filepath.Join(scratch, "main.go"), []byte(program), 0o644); err != nil {
		return "", err
	}
	var out strings.Builder
	for _, args := range [][]string{
		{"mod", "init", "example.com/consumer"},
		{"get", m.Path() + "@" + m.Version},
		{"mod", "tidy"},
	} {
		if err := p.goIn(&out, scratch, args...); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out.String())
		}
	}
	out.Reset()
	if err := p.goIn(&out, scratch, "run", "."); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out.String())
	}
	return out.String(), nil
}

// Install fetches and builds the command m as `go install m@version` does.
func (p *Proxy) Install(w io.Writer, m house.Module) error {
	bin, err := os.MkdirTemp("", "lanyard-bin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	cmd, err := p.command(bin, "install", m.Path()+"@"+m.Version)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "GOBIN="+bin, "GOFLAGS="+buildFlags)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go install %s: %w", m.Dir, err)
	}
	return nil
}

func (p *Proxy) command(dir string, args ...string) (*exec.Cmd, error) {
	env, err := p.Env()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, env
	return cmd, nil
}

func (p *Proxy) goIn(w io.Writer, dir string, args ...string) error {
	cmd, err := p.command(dir, args...)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// copyTree copies the regular files below from into to.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}
