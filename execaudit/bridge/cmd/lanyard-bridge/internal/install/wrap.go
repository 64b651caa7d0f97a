//go:build linux

package install

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// prepare returns the record of what is to be there: the former one, or a new one without edits.
func (h host) prepare(o Options, a *asked, former *record) (*record, error) {
	main := h.configOf(a, o.Config)
	if former != nil && former.Mode != o.Mode {
		return nil, fmt.Errorf("%w in mode %s: uninstall first", ErrInstalled, former.Mode)
	}
	r := &record{Mode: o.Mode, Kind: a.kind, RuntimeVersion: a.version, Config: main, Socket: a.socket}
	p, err := h.planner(a, main)
	if err != nil && o.Mode != ModeBind {
		return nil, err
	}
	configured := map[string]runtimeconf.Handler{}
	standard := a.defaultHandler
	if o.Mode != ModeBind {
		if configured, standard, err = p.Handlers(); err != nil {
			return nil, err
		}
	}
	names := o.Handlers
	if len(names) == 0 {
		names = []string{standard}
	}
	if o.Mode == ModeRuntimeClass {
		names = names[:1]
	}
	for _, name := range names {
		w, err := h.wrap(o, a, configured, standard, name, former)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(r.Wrapped, func(other wrapped) bool { return other.Executed == w.Executed }) {
			r.Wrapped = append(r.Wrapped, w)
		}
	}
	if former == nil {
		return r, nil
	}
	for _, w := range former.Wrapped {
		if !slices.ContainsFunc(r.Wrapped, func(now wrapped) bool { return now.Executed == w.Executed }) {
			return nil, fmt.Errorf("%w on handler %q: uninstall first", ErrInstalled, w.Name)
		}
	}
	r.Edits, r.Directories = former.Edits, former.Directories
	return r, nil
}

// wrap returns how the handler gets the wrapper.
func (h host) wrap(o Options, a *asked, configured map[string]runtimeconf.Handler, standard, name string, former *record) (wrapped, error) {
	running, known := a.handlers[name]
	set, there := configured[name]
	if !known && !there {
		return wrapped{}, fmt.Errorf("%w %q is not configured", runtimeconf.ErrHandler, name)
	}
	if !there {
		set = runtimeconf.Handler{Name: name, Type: running.kind, Binary: running.binary}
	}
	if err := set.Supported(); err != nil {
		return wrapped{}, err
	}
	w := wrapped{Name: name, Handlers: []string{name}, Added: o.Mode == ModeRuntimeClass}
	switch {
	case w.Added:
		w.Name, w.Handlers = o.NewHandler, []string{o.NewHandler}
	case name == standard:
		w.Handlers = []string{"", name}
	}
	w.Wrapper = filepath.Join(o.Prefix, "bin", "lanyard-oci-"+w.Name)
	if o.Mode == ModeBind {
		return h.wrapBound(o, a, w, set)
	}
	w.Executed, w.Config = w.Wrapper, oci.ConfigPaths(w.Wrapper)[0]
	if former != nil {
		if i := slices.IndexFunc(former.Wrapped, func(was wrapped) bool { return was.Name == w.Name }); i >= 0 {
			w.Real = former.Wrapped[i].Real
			return w, nil
		}
	}
	if known && there && running.binary != set.Binary && !o.Force {
		return wrapped{}, fmt.Errorf("the runtime executes %q for handler %q and its configuration says %q: give the file it was started with (--config), or restart it first", running.binary, name, set.Binary)
	}
	if filepath.Base(set.Binary) == filepath.Base(w.Wrapper) {
		return wrapped{}, fmt.Errorf("handler %q executes %s, and the record of that installation is not in %s", name, set.Binary, o.State)
	}
	var err error
	if w.Real, err = h.lookUp(o, set.Binary); err != nil {
		return wrapped{}, fmt.Errorf("handler %q: %w", name, err)
	}
	return w, nil
}

// wrapBound completes what is covered in mode bind: every handler that executes the file gets the wrapper.
func (h host) wrapBound(o Options, a *asked, w wrapped, set runtimeconf.Handler) (wrapped, error) {
	real, err := h.lookUp(o, set.Binary)
	if err != nil {
		return wrapped{}, fmt.Errorf("handler %q: %w", w.Name, err)
	}
	if w.Executed, err = h.resolve(real); err != nil {
		return wrapped{}, err
	}
	w.Real, w.Config = realOf(w.Executed), oci.ConfigPaths(w.Executed)[1]
	o.Real = ""
	for _, name := range slices.Sorted(maps.Keys(a.handlers)) {
		other := a.handlers[name]
		path, err := h.lookUp(o, other.binary)
		if err != nil || slices.Contains(w.Handlers, name) || (runtimeconf.Handler{Type: other.kind}).Supported() != nil {
			continue
		}
		if path, err = h.resolve(path); err != nil || path != w.Executed {
			continue
		}
		if w.Handlers = append(w.Handlers, name); name == a.defaultHandler {
			w.Handlers = append(w.Handlers, "")
		}
	}
	slices.Sort(w.Handlers)
	return w, nil
}

// lookUp returns the absolute path of the runtime, as a service finds it.
func (h host) lookUp(o Options, binary string) (string, error) {
	candidates := []string{binary}
	if !filepath.IsAbs(binary) {
		if candidates = nil; binary == "" {
			binary = "runc"
		}
		for _, directory := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
			candidates = append(candidates, filepath.Join(directory, binary))
		}
	}
	if o.Real != "" {
		candidates = []string{o.Real}
	}
	for _, path := range candidates {
		resolved, err := h.resolve(path)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(h.path(resolved)); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("the real runtime is not at %q: %w", candidates, fs.ErrNotExist)
}
