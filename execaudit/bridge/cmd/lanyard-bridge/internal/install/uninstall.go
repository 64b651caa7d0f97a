//go:build linux

package install

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// Uninstall takes the wrapper off the node as far as it can now, and returns what is left and why. Again, later, it
// goes on. Keys, spool and journal stay. Options.Force removes the wrapper's files whatever names them. Errors:
// [ErrUsage], runtimeconf.ErrNotFound where the configuration's lines were changed (nothing is touched then), or the
// system's.
func Uninstall(ctx context.Context, o Options) (report Report, err error) {
	if o, err = o.withDefaults(); err != nil {
		return Report{}, err
	}
	h := host{o.HostRoot, o.MountNamespace}
	told := false
	err = h.do(func() error {
		lock, err := h.lock(o.State)
		if err != nil {
			return err
		}
		defer lock.Close()
		return h.tell(o.State, func(handlers map[string]installed.Handler) bool {
			told = len(handlers) > 0
			clear(handlers)
			return told
		})
	})
	if err != nil {
		return Report{}, err
	}
	if told {
		select {
		case <-time.After(o.Settle):
		case <-ctx.Done():
			return Report{}, ctx.Err()
		}
	}
	if err := h.leave(ctx, o); err != nil {
		return Report{}, err
	}
	report, err = h.cleaned(ctx, o, false)
	if err != nil || o.Restart == "" || report.Restart == "" {
		return report, err
	}
	if err := h.restart(ctx, o.Restart); err != nil {
		return report, err
	}
	return h.cleaned(ctx, o, true)
}

// leave takes the configuration back and makes the wrapper pass everything through.
func (h host) leave(ctx context.Context, o Options) error {
	var all []User
	var added bool // the runtime could be asked who uses a handler of ours
	var r *record
	err := h.do(func() (err error) { r, err = h.load(o.State); return err })
	if err != nil || r == nil {
		return err
	}
	if r.Mode == ModeBind && h.root != "" {
		return fmt.Errorf("%w in mode bind: its mounts are taken off in the host's mount namespace, with that mode", ErrInstalled)
	}
	if r.Mode == ModeRuntimeClass {
		socket := o.Socket
		if socket == "" {
			socket = r.Socket
		}
		if a, err := h.ask(ctx, h.socketOf(socket), false); err == nil {
			defer a.close()
			if all, err = a.users(ctx); err == nil {
				added = true
			}
		}
	}
	return h.do(func() error {
		lock, err := h.lock(o.State)
		if err != nil {
			return err
		}
		defer lock.Close()
		if r, err = h.load(o.State); err != nil || r == nil {
			return err
		}
		if r.Mode != ModeRuntimeClass || o.Force || added && len(ofAdded(r, all)) == 0 {
			if err := h.undo(r); err != nil {
				return err
			}
		}
		r.Leaving = true
		if err := h.save(o.State, r); err != nil {
			return err
		}
		for _, w := range r.Wrapped {
			if err := h.passThrough(r, w); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h host) passThrough(r *record, w wrapped) error {
	if r.Mode == ModeBind {
		return uncover(w.Executed)
	}
	return h.update(w.Config, oci.Config{Handler: w.Handlers[0], Runtime: w.Real, PassThrough: true}.Encode(), 0o644)
}

// cleaned removes what nothing names.
func (h host) cleaned(ctx context.Context, o Options, restarted bool) (report Report, err error) {
	var r *record
	if err := h.do(func() error { r, err = h.load(o.State); return err }); err != nil || r == nil || !r.Leaving {
		return Report{}, err
	}
	if o.Socket == "" {
		o.Socket = r.Socket
	}
	a, err := h.ask(ctx, h.socketOf(o.Socket), restarted)
	var all []User
	if err == nil {
		defer a.close()
		all, err = a.users(ctx)
	}
	if err != nil && !o.Force && r.Mode != ModeBind {
		return Report{Mode: r.Mode, Leaving: true, Config: r.Config}, err
	}
	err = h.do(func() error {
		lock, err := h.lock(o.State)
		if err != nil {
			return err
		}
		defer lock.Close()
		if a != nil {
			report = h.report(a, r)
			if report.Keeping = h.keeping(a, r, all); len(report.Keeping) == 0 && len(r.Edits) > 0 {
				report.Keeping = ofAdded(r, all)
			}
		}
		if (len(report.Keeping) > 0 || report.Restart != "" || len(r.Edits) > 0) && !o.Force {
			return nil
		}
		gone, err := h.removeAll(o, r)
		if err == nil && gone {
			report = Report{}
		}
		return err
	})
	return report, err
}

// removeAll removes the wrappers and the record; false where a call is still on its way through one.
func (h host) removeAll(o Options, r *record) (bool, error) {
	for _, w := range r.Wrapped {
		if r.Mode == ModeBind {
			if gone, err := removeReal(w.Wrapper, w.Executed); !gone {
				return false, err
			}
		}
		if err := errors.Join(h.remove(w.Wrapper), h.remove(w.Config)); err != nil {
			return false, err
		}
	}
	for _, directory := range []string{filepath.Join(o.Prefix, "bin"), o.Prefix} {
		_ = h.removeEmpty(directory) // unless others use it
	}
	return true, h.remove(filepath.Join(o.State, recordFile))
}
