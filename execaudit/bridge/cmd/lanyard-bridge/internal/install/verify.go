//go:build linux

package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
)

// Report is what is installed on a node, and what the runtime says of it.
type Report struct {
	Mode Mode `json:"mode,omitempty"`
	// Active: the runtime uses the wrapper for every handler.
	Active bool `json:"active"`
	// Leaving: uninstall was asked for; Keeping is what the wrapper is still there for.
	Leaving bool   `json:"leaving,omitempty"`
	Keeping []User `json:"keeping,omitempty"`
	// Restart is the command that makes the runtime read its configuration; empty where none is needed.
	Restart  string          `json:"restart,omitempty"`
	Runtime  string          `json:"runtime,omitempty"`
	Version  string          `json:"version,omitempty"`
	Config   string          `json:"config,omitempty"`
	Handlers []HandlerReport `json:"handlers,omitempty"`
}

// HandlerReport is one handler.
type HandlerReport struct {
	installed.Handler
	// Names are those that pods know it by.
	Names []string `json:"names"`
	// Active: the runtime uses the wrapper; Reason says why not.
	Active bool   `json:"active"`
	Reason string `json:"reason,omitempty"`
}

// Verify asks the runtime whether it uses what is installed, and writes down for the node's daemon which handlers have
// the wrapper and since when. Errors: [ErrUsage], [ErrNoAnswer], or the system's; what was written down stays then.
func Verify(ctx context.Context, o Options) (report Report, err error) {
	if o, err = o.withDefaults(); err != nil {
		return Report{}, err
	}
	return verify(ctx, o, false)
}

func verify(ctx context.Context, o Options, restarted bool) (report Report, err error) {
	h := host{o.HostRoot, o.MountNamespace}
	var r *record
	if err := h.do(func() error { r, err = h.load(o.State); return err }); err != nil || r == nil {
		return Report{}, err
	}
	if o.Socket == "" {
		o.Socket = r.Socket
	}
	a, err := h.ask(ctx, h.socketOf(o.Socket), restarted)
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
		// It may be another one's by now.
		if r, err = h.load(o.State); err != nil || r == nil {
			return err
		}
		report = h.report(a, r)
		return h.tellActive(o, r, &report)
	})
	return report, err
}

// report asks for each handler.
func (h host) report(a *asked, r *record) Report {
	report := Report{Mode: r.Mode, Leaving: r.Leaving, Runtime: a.kind, Version: a.version, Config: r.Config, Active: !r.Leaving}
	for _, w := range r.Wrapped {
		handler := HandlerReport{
			Names:   w.Handlers,
			Handler: installed.Handler{Mode: string(r.Mode), Wrapper: w.Executed, Runtime: w.Real, Config: w.Config},
			Reason:  h.inactive(a, r, w),
		}
		if handler.Active = handler.Reason == "" && !r.Leaving; !handler.Active {
			report.Active = false
		}
		report.Handlers = append(report.Handlers, handler)
		uses, shall := a.handlers[w.Name].binary == w.Executed, !r.Leaving || len(r.Edits) > 0
		if r.Mode != ModeBind && uses != shall {
			report.Restart = restartOf(a.kind)
		}
	}
	return report
}

func restartOf(kind string) string {
	if kind == kindCRIO {
		return "systemctl restart crio"
	}
	return "systemctl restart containerd"
}

// inactive says why the runtime does not use the wrapper, or "".
func (h host) inactive(a *asked, r *record, w wrapped) string {
	for _, path := range []string{w.Wrapper, w.Config, w.Real} {
		if _, err := os.Stat(h.path(path)); err != nil {
			return fmt.Sprintf("%s is missing", path)
		}
	}
	if r.Mode != ModeBind {
		if now := a.handlers[w.Name]; now.binary != w.Executed {
			return fmt.Sprintf("the running %s executes %q", a.kind, now.binary)
		}
		return ""
	}
	if !same(w.Wrapper, w.Executed) {
		return fmt.Sprintf("%s is not covered", w.Executed)
	}
	// The runtime may have a mount namespace of its own, which the mount did not reach.
	if root := fmt.Sprintf("/proc/%d/root", a.pid); a.pid != 0 && same(root+"/", root+"/.") && !same(filepath.Join(root, w.Executed), w.Wrapper) {
		return fmt.Sprintf("%s is not covered in the mount namespace of %s, process %d", w.Executed, a.kind, a.pid)
	}
	return ""
}

// tellActive writes down which handlers are active; one that was keeps its time.
func (h host) tellActive(o Options, r *record, report *Report) error {
	return h.tell(o.State, func(told map[string]installed.Handler) bool {
		changed := false
		for i := range report.Handlers {
			now := &report.Handlers[i]
			for _, name := range now.Names {
				former, was := told[name]
				now.Since = former.Since
				switch {
				case !now.Active && was:
					delete(told, name)
					changed = true
				case now.Active && former != now.Handler:
					if !was || former.Wrapper != now.Wrapper || former.Mode != now.Mode {
						now.Since = o.Now().UTC()
					}
					told[name], changed = now.Handler, true
				}
			}
		}
		return changed
	})
}
