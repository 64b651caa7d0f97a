// Package house reads the list of the modules in the repository.
package house

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Prefix is what every module path of the repository begins with.
const Prefix = "github.com/lanyard-dev/lanyard"

// ListFile is the name of the list at the root of the repository.
const ListFile = "modules.txt"

// Kind says how a module is treated by the tools.
type Kind string

// The kinds of modules.
const (
	Library  Kind = "library"  // published, budgeted, cross-compiled
	Tool     Kind = "tool"     // a published command
	Examples Kind = "examples" // the reference stack
	Peers    Kind = "peers"    // benchmarks and differential tests, outside the workspace
	Heavy    Kind = "heavy"    // as Peers, but too large to build for every test run
	Tools    Kind = "tools"    // the repository's own tools, outside the workspace
)

// Module is one line of the list.
type Module struct {
	Dir     string // slash-separated, relative to the root
	Version string // the version it is published as next
	Kind    Kind
}

// Path returns the module path.
func (m Module) Path() string { return Prefix + "/" + m.Dir }

// InWorkspace reports whether go.work lists the module.
func (m Module) InWorkspace() bool { return m.Published() || m.Kind == Examples }

// Published reports whether users fetch the module by version.
func (m Module) Published() bool { return m.Kind == Library || m.Kind == Tool }

// Internal reports whether only the repository's own modules can import it.
func (m Module) Internal() bool { return strings.HasPrefix(m.Dir, "internal/") }

// House is a checkout of the repository.
type House struct {
	Root    string
	Modules []Module // in the order of the list, every one with a go.mod
}

// Open reads the list of the checkout that contains dir, looking upwards.
func Open(dir string) (*House, error) {
	root, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, ListFile))
	if err != nil {
		return nil, err
	}
	listed, err := ParseList(string(text))
	if err != nil {
		return nil, err
	}
	for _, m := range listed {
		if _, err := os.Stat(filepath.Join(root, m.Dir, "go.mod")); err != nil {
			return nil, fmt.Errorf("%s: listed without a go.mod: %w", m.Dir, err)
		}
	}
	return &House{Root: root, Modules: listed}, nil
}

func findRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, ListFile)); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no %s here or above", ListFile)
		}
		dir = parent
	}
}

// ParseList reads lines of directory, version and kind; "#" starts a comment.
// A line of another shape, a version that is not semantic, an unknown kind and a
// duplicate directory are errors that name the line.
func ParseList(text string) ([]Module, error) {
	var modules []Module
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d: %d fields, want directory, version and kind", i+1, len(fields))
		}
		m := Module{Dir: fields[0], Version: fields[1], Kind: Kind(fields[2])}
		switch {
		case !semver.IsValid(m.Version):
			return nil, fmt.Errorf("line %d: version %q is not semantic", i+1, m.Version)
		case !m.Kind.known():
			return nil, fmt.Errorf("line %d: unknown kind %q", i+1, m.Kind)
		case seen[m.Dir]:
			return nil, fmt.Errorf("line %d: duplicate module %s", i+1, m.Dir)
		}
		seen[m.Dir] = true
		modules = append(modules, m)
	}
	return modules, nil
}

func (k Kind) known() bool {
	switch k {
	case Library, Tool, Examples, Peers, Heavy, Tools:
		return true
	}
	return false
}

// Select returns the modules of the given kinds, in the order of the list.
func (h *House) Select(kinds ...Kind) []Module {
	var out []Module
	for _, m := range h.Modules {
		if slices.Contains(kinds, m.Kind) {
			out = append(out, m)
		}
	}
	return out
}

// Everyday returns every module but the heavy ones.
func (h *House) Everyday() []Module {
	return h.Select(Library, Tool, Examples, Peers, Tools)
}

// Module returns the module in the directory dir.
func (h *House) Module(dir string) (Module, error) {
	for _, m := range h.Modules {
		if m.Dir == strings.Trim(dir, "/") {
			return m, nil
		}
	}
	return Module{}, fmt.Errorf("%q is not in %s", dir, ListFile)
}

// Owner returns the directory of the module that contains the package, and false
// where it is nobody's in the house.
func (h *House) Owner(pkg string) (string, bool) {
	owner := ""
	for _, m := range h.Modules {
		inside := pkg == m.Path() || strings.HasPrefix(pkg, m.Path()+"/")
		if inside && len(m.Dir) > len(owner) {
			owner = m.Dir
		}
	}
	return owner, owner != ""
}

// Siblings returns the modules of the house that m requires.
func (h *House) Siblings(m Module) ([]Module, error) {
	mod, err := h.modFile(m)
	if err != nil {
		return nil, err
	}
	var out []Module
	for _, req := range mod.Require {
		if dir, ok := strings.CutPrefix(req.Mod.Path, Prefix+"/"); ok {
			sibling, err := h.Module(dir)
			if err != nil {
				return nil, fmt.Errorf("%s requires it: %w", m.Dir, err)
			}
			out = append(out, sibling)
		}
	}
	return out, nil
}

func (h *House) modFile(m Module) (*modfile.File, error) {
	file := filepath.Join(h.Root, m.Dir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(file, data, nil)
}
