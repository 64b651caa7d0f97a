package runtimeconf

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Names of the CRI plugin's table.
const (
	pluginV2 = "io.containerd.grpc.v1.cri"
	pluginV3 = "io.containerd.cri.v1.runtime"
)

// RuncV2 is the only runtime_type of containerd that executes a program like runc.
const RuncV2 = "io.containerd.runc.v2"

// DropIn is the name of a file of our own.
const DropIn = "99-lanyard"

// defaultHandler is containerd's where its configuration names none.
const defaultHandler = "runc"

// File is a configuration file.
type File struct {
	Path string
	Text []byte
}

// Handler is a runtime handler as a configuration has it.
type Handler struct {
	// Name is the handler's.
	Name string
	// Type is its runtime_type.
	Type string
	// Binary is the program that is executed; "" is the runtime's default.
	Binary string
	// Table is all of it.
	Table map[string]any
}

// Supported returns nil where the wrapper can stand for the handler's runtime. Its error is [ErrRuntime].
func (h Handler) Supported() error {
	switch h.Type {
	case RuncV2, typeOCI, "":
		return nil
	}
	return fmt.Errorf("handler %q: %w: runtime_type %q brings a shim of its own, which executes no program like runc", h.Name, ErrRuntime, h.Type)
}

// Change is what is wanted of a handler.
type Change struct {
	// Handler is the handler's name.
	Handler string
	// CopyOf is the handler that a new one is a copy of; "" changes the handler itself.
	CopyOf string
	// Binary is the program that the handler shall execute.
	Binary string
}

// Containerd is the configuration of containerd.
type Containerd struct {
	// Major is containerd's, 1 or 2.
	Major int
	// Main is the path of the main file, which need not be among Files.
	Main string
	// Files are those that are there, in the order in which containerd merges them.
	Files []File
}

// Imports returns the files, or patterns of files, that a file names, absolute and in its order. containerd 1.x takes a
// relative pattern as relative to its own working directory, which is the root directory for a service.
func Imports(f File, major int) ([]string, error) {
	tree, err := parse(f.Path, f.Text)
	if err != nil {
		return nil, err
	}
	list, _ := tree["imports"].([]any)
	var out []string
	for _, entry := range list {
		path, ok := entry.(string)
		if !ok {
			continue
		}
		path = filepath.Clean(path)
		switch {
		case filepath.IsAbs(path):
		case major < 2 && strings.Contains(path, "*"):
			path = "/" + path
		default:
			path = filepath.Join(filepath.Dir(f.Path), path)
		}
		out = append(out, path)
	}
	return out, nil
}

// layer is the CRI plugin's table in one file.
type layer struct {
	file   int
	plugin string
	cri    map[string]any
}

func (l layer) runtimes() []string { return []string{"plugins", l.plugin, "containerd", "runtimes"} }

// layers returns the tables that count, in the order in which they are merged, and the version of the main file.
func (c Containerd) layers() (out []layer, version int, err error) {
	for i, f := range c.Files {
		tree, err := parse(f.Path, f.Text)
		if err != nil {
			return nil, 0, err
		}
		v, _ := tree["version"].(int64)
		if v < 2 {
			return nil, 0, fmt.Errorf("%s: %w: configuration version %d, must be 2 or later (see containerd config migrate)", f.Path, ErrForm, v)
		}
		if i == 0 {
			version = int(v)
		}
		if disabled, _ := tree["disabled_plugins"].([]any); slices.Contains(disabled, any(pluginV2)) || slices.Contains(disabled, any(pluginV3)) {
			return nil, 0, fmt.Errorf("%s: %w: the CRI plugin is disabled", f.Path, ErrForm)
		}
		l := layer{file: i, plugin: pluginOf(int(v))}
		if l.cri = at(tree, "plugins", l.plugin); l.cri == nil {
			continue
		}
		if c.Major < 2 {
			out = nil // the former are replaced
		}
		out = append(out, l)
	}
	return out, version, nil
}

func pluginOf(version int) string {
	if version < 3 {
		return pluginV2
	}
	return pluginV3
}

// Handlers returns the handlers by name, and the default one's name. containerd's own default is among them even where
// no file names it.
func (c Containerd) Handlers() (map[string]Handler, string, error) {
	layers, _, err := c.layers()
	if err != nil {
		return nil, "", err
	}
	merged := map[string]any{}
	for _, l := range layers {
		merge(merged, l.cri)
	}
	if t, _ := at(merged, "containerd", "default_runtime")["runtime_type"].(string); t != "" {
		return nil, "", fmt.Errorf("%s: %w: the deprecated table default_runtime", c.Main, ErrForm)
	}
	out := map[string]Handler{}
	configured := at(merged, "containerd", "runtimes")
	if c.Major >= 2 || configured == nil {
		out[defaultHandler] = Handler{Name: defaultHandler, Type: RuncV2, Table: map[string]any{"runtime_type": RuncV2}}
	}
	for name := range configured {
		table := at(merged, "containerd", "runtimes", name)
		h := Handler{Name: name, Table: table}
		h.Type, _ = table["runtime_type"].(string)
		h.Binary, _ = at(table, "options")["BinaryName"].(string)
		if name == defaultHandler && h.Type == "" {
			h.Type = RuncV2
		}
		out[name] = h
	}
	name, _ := at(merged, "containerd")["default_runtime_name"].(string)
	if name == "" {
		name = defaultHandler
	}
	return out, name, nil
}

// merge puts from over to, as containerd 2 does: empty values do not count, and tables are merged.
func merge(to, from map[string]any) {
	for name, value := range from {
		former, there := to[name]
		inner, isTable := value.(map[string]any)
		outer, wasTable := former.(map[string]any)
		switch {
		case isTable && wasTable:
			merge(outer, inner)
		case isTable:
			outer = map[string]any{}
			merge(outer, inner)
			to[name] = outer
		case !there || !reflect.ValueOf(value).IsZero():
			to[name] = value
		}
	}
}

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

// State returns the directory of containerd's running state.
func (c Containerd) State() string {
	state := "/run/containerd"
	for _, f := range c.Files {
		if tree, err := parse(f.Path, f.Text); err == nil {
			if s, _ := tree["state"].(string); s != "" {
				state = s
			}
		}
	}
	return state
}
