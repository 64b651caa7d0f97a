package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// ErrInstalled: the node has the wrapper in another mode, or on other handlers.
var ErrInstalled = errors.New("installed already")

// Install puts the wrapper into the runtime's place, or brings what is there to the options and to the wrapper's
// content of now, and returns what the runtime then answers. Doing it again changes nothing. Errors: [ErrUsage],
// [ErrNoAnswer], [ErrInstalled], those of package runtimeconf, and the system's; nothing names the wrapper then that
// did not before.
func Install(ctx context.Context, o Options) (report Report, err error) {
	if o, err = o.withDefaults(); err != nil {
		return Report{}, err
	}
	if o.Node == "" {
		return Report{}, fmt.Errorf("%w: the node's name is missing", ErrUsage)
	}
	content, err := o.wrapper()
	if err != nil {
		return Report{}, err
	}
	h := host{o.HostRoot, o.MountNamespace}
	a, err := h.ask(ctx, h.socketOf(o.Socket), false)
	if err != nil {
		return Report{}, err
	}
	defer a.close()
	err = h.do(func() error {
		lock, err := h.lock(o.State)
		if err != nil {
			return err
		}
		defer lock.Close()
		r, err := h.load(o.State)
		if err != nil {
			return err
		}
		fresh := r == nil
		if r, err = h.prepare(o, a, r); err != nil {
			return err
		}
		return h.put(ctx, o, a, r, content, fresh)
	})
	if err != nil {
		return Report{}, err
	}
	report, err = verify(ctx, o, false)
	if err != nil || o.Restart == "" || report.Restart == "" {
		return report, err
	}
	if err := h.restart(ctx, o.Restart); err != nil {
		return report, err
	}
	return verify(ctx, o, true)
}

// restart runs the command that was asked for.
func (h host) restart(ctx context.Context, command string) error {
	return h.do(func() error {
		said, err := exec.CommandContext(ctx, "/bin/sh", "-c", command).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, bytes.TrimSpace(said[:min(len(said), 2<<10)]))
		}
		return nil
	})
}

// prepare returns the record of what is to be there: the former one, or a new one without edits.
func (h host) prepare(o Options, a *asked, former *record) (*record, error) {
	main := h.configOf(a, o.Config)
	if former != nil && former.Mode != o.Mode {
		return nil, fmt.Errorf("%w in mode %s: uninstall first", ErrInstalled, former.Mode)
	}
	r := &record{Mode: o.Mode, Kind: a.kind, Config: main, Socket: a.socket}
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

// put makes what the record says.
func (h host) put(ctx context.Context, o Options, a *asked, r *record, content []byte, fresh bool) error {
	var patches []runtimeconf.Patch
	binaries := map[string]string{}
	if o.Mode != ModeBind {
		var changes []runtimeconf.Change
		for _, w := range r.Wrapped {
			changes, binaries[w.Name] = append(changes, r.change(o, a, w)), w.Executed
		}
		p, err := h.planner(a, r.Config)
		if err != nil {
			return err
		}
		if patches, err = p.Plan(changes...); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		path string
		mode fs.FileMode
	}{{filepath.Join(o.Prefix, "bin"), 0o755}, {filepath.Join(o.State, "spool"), 0o700}, {filepath.Dir(o.Keys), 0o755}} {
		if _, err := h.makeDirectory(d.path, d.mode); err != nil {
			return err
		}
	}
	if err := h.save(o.State, r); err != nil {
		return err
	}
	for _, w := range r.Wrapped {
		if err := h.place(o, w, content); err != nil {
			return err
		}
	}
	if len(patches) == 0 {
		return nil
	}
	err := h.configure(ctx, o, a, r, patches, binaries)
	if err == nil || !fresh {
		return err
	}
	// Nothing names them.
	for _, w := range r.Wrapped {
		err = errors.Join(err, h.remove(w.Wrapper), h.remove(w.Config))
	}
	return errors.Join(err, h.remove(filepath.Join(o.State, recordFile)))
}

// change returns what is wanted of the configuration.
func (r *record) change(o Options, a *asked, w wrapped) runtimeconf.Change {
	c := runtimeconf.Change{Handler: w.Name, Binary: w.Executed}
	if w.Added {
		if c.CopyOf = a.defaultHandler; len(o.Handlers) > 0 {
			c.CopyOf = o.Handlers[0]
		}
	}
	return c
}

// place writes the wrapper and its configuration, and in mode bind makes the mounts.
func (h host) place(o Options, w wrapped, content []byte) error {
	config := oci.Config{
		Handler: w.Handlers[0], Runtime: w.Real, Node: o.Node, Keys: o.Keys, Spool: filepath.Join(o.State, "spool"),
		Mark: o.Mark, Failure: o.Failure, Skew: o.Skew, UnmarkedNamespaces: o.UnmarkedNamespaces,
	}
	if err := config.Validate(); err != nil {
		return err
	}
	if _, err := h.makeDirectory(filepath.Dir(w.Config), 0o755); err != nil {
		return err
	}
	if err := h.update(w.Config, config.Encode(), 0o644); err != nil {
		return err
	}
	if err := h.update(w.Wrapper, content, 0o755); err != nil {
		return err
	}
	if o.Mode != ModeBind {
		return nil
	}
	mounts, err := mountsAt(w.Executed)
	if err != nil {
		return err
	}
	if len(mounts) == 0 || !ours(mounts[len(mounts)-1]) {
		if err := bindReal(w.Executed); err != nil {
			return err
		}
	}
	return cover(w.Wrapper, w.Executed)
}

// update writes the file unless it has that content.
func (h host) update(path string, content []byte, mode fs.FileMode) error {
	if now, err := h.read(path); err == nil && bytes.Equal(now, content) {
		return nil
	}
	return h.write(path, content, mode)
}

// configure changes the runtime's configuration. Where the runtime's own program then reads something else than what
// was meant, it is as before again.
func (h host) configure(ctx context.Context, o Options, a *asked, r *record, patches []runtimeconf.Patch, binaries map[string]string) error {
	before := h.dump(ctx, a, r.Config)
	added := &record{}
	for _, patch := range patches {
		made, err := h.makeDirectory(filepath.Dir(patch.Path), 0o755)
		if err != nil {
			return err
		}
		added.Directories = append(made, added.Directories...)
		added.Edits = append(added.Edits, patch.Edit)
	}
	former := *r
	r.Edits, r.Directories = append(r.Edits, added.Edits...), append(added.Directories, r.Directories...)
	// Written down first: an edit that was not made is not found, and nothing is undone.
	if err := h.save(o.State, r); err != nil {
		return err
	}
	err := h.apply(patches)
	if err == nil {
		err = h.reread(ctx, a, r.Config, before, binaries)
	}
	if err != nil {
		err = errors.Join(err, h.undo(added), h.save(o.State, &former))
	}
	return err
}

// reread returns an error where the files of now do not say what was meant.
func (h host) reread(ctx context.Context, a *asked, main string, before []byte, binaries map[string]string) error {
	p, err := h.planner(a, main)
	if err != nil {
		return err
	}
	handlers, _, err := p.Handlers()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(binaries)) {
		if handlers[name].Binary != binaries[name] {
			return fmt.Errorf("%w: another file of the configuration has the last word on handler %q", runtimeconf.ErrForm, name)
		}
	}
	if after := h.dump(ctx, a, main); before != nil && after != nil {
		return runtimeconf.Compare(before, after, binaries)
	}
	return nil
}
