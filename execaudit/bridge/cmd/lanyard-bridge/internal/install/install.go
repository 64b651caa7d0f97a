//go:build linux

package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"

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
