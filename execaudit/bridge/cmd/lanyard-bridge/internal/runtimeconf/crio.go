package runtimeconf

import (
	"fmt"
	"path/filepath"
)

// typeOCI is the runtime_type of CRI-O that executes a program like runc; "" is the same.
const typeOCI = "oci"

// CRIO is the configuration of CRI-O.
type CRIO struct {
	// Path is the file of our own, in CRI-O's directory of further files.
	Path string
	// Files are all that CRI-O reads, in its order, with the one at Path where it is there.
	Files []File
	// Running is the configuration that the running CRI-O answered, which has its defaults; nil where it was not asked.
	Running []byte
}

// Handlers returns the handlers by name, and the default one's name. Its error is [ErrSyntax].
func (c CRIO) Handlers() (map[string]Handler, string, error) {
	out, name := map[string]Handler{}, "runc"
	for _, f := range append([]File{{Path: "the running configuration", Text: c.Running}}, c.Files...) {
		tree, err := parse(f.Path, f.Text)
		if err != nil {
			return nil, "", err
		}
		runtime := at(tree, "crio", "runtime")
		if n, _ := runtime["default_runtime"].(string); n != "" {
			name = n
		}
		for n := range at(runtime, "runtimes") {
			table := at(runtime, "runtimes", n)
			h := Handler{Name: n, Table: table}
			h.Type, _ = table["runtime_type"].(string)
			h.Binary, _ = table["runtime_path"].(string)
			out[n] = h // a later file replaces the table
		}
	}
	return out, name, nil
}

// Plan returns the patches of the file of our own, in the order in which they are to be made. A change that is there
// already needs none. Errors: all of this package.
func (c CRIO) Plan(changes ...Change) ([]Patch, error) {
	handlers, _, err := c.Handlers()
	if err != nil {
		return nil, err
	}
	var text []byte
	for _, f := range c.Files {
		if f.Path == c.Path {
			text = f.Text
		}
	}
	var out []Patch
	for _, change := range changes {
		if handlers[change.Handler].Binary == change.Binary {
			continue
		}
		for _, f := range c.Files {
			tree, err := parse(f.Path, f.Text)
			if err != nil {
				return nil, err
			}
			if f.Path > c.Path && filepath.Dir(f.Path) == filepath.Dir(c.Path) && at(tree, "crio", "runtime", "runtimes", change.Handler) != nil {
				return nil, fmt.Errorf("%s: %w: it is read after %s and defines handler %q", f.Path, ErrForm, c.Path, change.Handler)
			}
		}
		source, err := sourceOf(handlers, change)
		if err != nil {
			return nil, err
		}
		table := map[string]any{}
		for name, value := range source.Table {
			table[name] = value
		}
		table["runtime_path"] = change.Binary
		patch, err := AddTable(c.Path, text, change.Handler, []string{"crio", "runtime", "runtimes", change.Handler}, table)
		if err != nil {
			return nil, err
		}
		out, text = append(out, patch), patch.After
	}
	return out, nil
}
