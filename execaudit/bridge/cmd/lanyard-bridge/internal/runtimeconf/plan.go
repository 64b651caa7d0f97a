package runtimeconf

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// Plan returns the patches that make the changes, in the order in which they are to be made; several may be of one
// file. A change that is there already needs none. Errors: all of this package.
func (c Containerd) Plan(changes ...Change) ([]Patch, error) {
	c.Files = slices.Clone(c.Files)
	var out []Patch
	for _, change := range changes {
		handlers, _, err := c.Handlers()
		if err != nil {
			return nil, err
		}
		if handlers[change.Handler].Binary == change.Binary {
			continue
		}
		// containerd 1.x has its own default handler only as long as no other is configured.
		if c.Major < 2 && change.CopyOf != "" && !c.named() {
			kept := Change{Handler: defaultHandler}
			patch, err := c.plan(handlers, kept)
			if err != nil {
				return nil, err
			}
			out = append(out, patch)
			c.put(patch)
		}
		patch, err := c.plan(handlers, change)
		if err != nil {
			return nil, err
		}
		out = append(out, patch)
		c.put(patch)
		if handlers, _, err = c.Handlers(); err != nil || handlers[change.Handler].Binary != change.Binary {
			return nil, fmt.Errorf("%s: %w: another file defines handler %q later", patch.Path, ErrForm, change.Handler)
		}
	}
	return out, nil
}

// named tells whether a file that counts names any handler.
func (c Containerd) named() bool {
	layers, _, _ := c.layers()
	return slices.ContainsFunc(layers, func(l layer) bool { return at(l.cri, "containerd", "runtimes") != nil })
}

// put takes over the text after the patch.
func (c *Containerd) put(p Patch) {
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == p.Path })
	if i < 0 {
		i = len(c.Files)
		c.Files = append(c.Files, File{Path: p.Path})
	}
	c.Files[i].Text = p.After
}

func (c Containerd) plan(handlers map[string]Handler, change Change) (Patch, error) {
	source, err := sourceOf(handlers, change)
	if err != nil {
		return Patch{}, err
	}
	layers, version, err := c.layers()
	if err != nil {
		return Patch{}, err
	}
	if path := c.dropIn(); path != "" {
		return c.intoDropIn(path, version, change, source, layers)
	}
	if len(c.Files) == 0 {
		// The newest version that the oldest containerd of that major reads.
		version = 1 + c.Major
		path := append(layer{plugin: pluginOf(version)}.runtimes(), change.Handler)
		return addWithVersion(c.Main, nil, version, change.Handler, path, withBinary(source.Table, change.Binary))
	}
	file, plugin := c.target(layers, version, change)
	runtimes := layer{plugin: plugin}.runtimes()
	if defined(layers, file.Path, c.Files, change.Handler) {
		return SetString(file.Path, file.Text, change.Handler, append(runtimes, change.Handler, "options", "BinaryName"), change.Binary)
	}
	return AddTable(file.Path, file.Text, change.Handler, append(runtimes, change.Handler), withBinary(source.Table, change.Binary))
}

// sourceOf returns the handler whose table the change starts from.
func sourceOf(handlers map[string]Handler, change Change) (Handler, error) {
	name := change.CopyOf
	if name == "" {
		name = change.Handler
	} else if _, there := handlers[change.Handler]; there {
		return Handler{}, fmt.Errorf("%w %q is there already", ErrHandler, change.Handler)
	}
	h, ok := handlers[name]
	if !ok {
		return Handler{}, fmt.Errorf("%w %q is not configured", ErrHandler, name)
	}
	return h, h.Supported()
}

// dropIn returns the path of a file of our own that containerd reads after the main one, or "".
func (c Containerd) dropIn() (path string) {
	if c.Major < 2 || len(c.Files) == 0 {
		return ""
	}
	patterns, _ := Imports(c.Files[0], c.Major)
	for _, pattern := range patterns {
		candidate := filepath.Join(filepath.Dir(pattern), DropIn+".toml")
		if ok, _ := filepath.Match(pattern, candidate); ok && pattern != candidate {
			path = candidate
		}
	}
	return path
}

func (c Containerd) intoDropIn(path string, version int, change Change, source Handler, layers []layer) (Patch, error) {
	var text []byte
	for _, f := range c.Files {
		if f.Path == path {
			text = f.Text
		}
	}
	table := withBinary(nil, change.Binary)
	if change.CopyOf != "" || !slices.ContainsFunc(layers, func(l layer) bool { return at(l.cri, "containerd", "runtimes", change.Handler) != nil }) {
		table = withBinary(source.Table, change.Binary)
	}
	return addWithVersion(path, text, version, change.Handler, append(layer{plugin: pluginOf(version)}.runtimes(), change.Handler), table)
}

// addWithVersion adds the table to the text; a file that is new begins with the version.
func addWithVersion(file string, text []byte, version int, handler string, path []string, table map[string]any) (Patch, error) {
	if text != nil {
		return AddTable(file, text, handler, path, table)
	}
	body, err := write(path, table)
	if err != nil {
		return Patch{}, fmt.Errorf("%s: %w: handler %q", file, ErrForm, handler)
	}
	p := appendBlock(file, nil, fmt.Sprintf("%s\nversion = %d\n%s%s\n", begin(handler, ""), version, body, end(handler)))
	want := map[string]any{"version": int64(version)}
	setAt(want, path, table)
	return p, check(p, handler, want)
}

// target returns the file to edit, and the name of the CRI plugin's table in it.
func (c Containerd) target(layers []layer, version int, change Change) (File, string) {
	best := -1
	for i, l := range layers {
		handler := at(l.cri, "containerd", "runtimes", change.Handler)
		if c.Major < 2 || handler != nil {
			best = i
		}
	}
	if best >= 0 {
		return c.Files[layers[best].file], layers[best].plugin
	}
	return c.Files[0], pluginOf(version)
}

// defined tells whether that file defines the handler.
func defined(layers []layer, path string, files []File, handler string) bool {
	return slices.ContainsFunc(layers, func(l layer) bool {
		return files[l.file].Path == path && at(l.cri, "containerd", "runtimes", handler) != nil
	})
}

// withBinary returns a copy of the handler's table that executes the program.
func withBinary(table map[string]any, binary string) map[string]any {
	out, options := map[string]any{}, map[string]any{}
	maps.Copy(out, table)
	maps.Copy(options, at(table, "options"))
	if options["BinaryName"] = binary; binary == "" {
		delete(options, "BinaryName")
	}
	if out["options"] = options; len(options) == 0 {
		delete(out, "options")
	}
	return out
}
