package runtimeconf

import (
	"fmt"
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
