//go:build linux

package install

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

// Changed returns why the installation is no longer what [Install] left, by the names that pods know each handler by,
// and "" for one that is as it was. It reads files alone, below root, and asks nobody: a configuration that a runtime
// has not read yet counts already. It is nil where nothing is installed. Its error is the record's.
func Changed(root, state string) (map[string]string, error) {
	h := host{root: root}
	r, err := h.load(state)
	if err != nil || r == nil {
		return nil, err
	}
	var handlers map[string]runtimeconf.Handler
	var standard string
	if r.Mode != ModeBind {
		handlers, standard, err = h.configured(r)
	}
	reasons := map[string]string{}
	for _, w := range r.Wrapped {
		for _, name := range w.Handlers {
			switch {
			case err != nil:
				reasons[name] = fmt.Sprintf("the configuration of %s: %v", r.Kind, err)
			case r.Mode == ModeBind:
				if reasons[name] = ""; !same(h.path(w.Wrapper), h.path(w.Executed)) {
					reasons[name] = fmt.Sprintf("%s is not covered by %s", w.Executed, w.Wrapper)
				}
			case handlers[w.Name].Binary != w.Executed:
				reasons[name] = fmt.Sprintf("the configuration of %s has %q for handler %q, and no longer the wrapper", r.Kind, handlers[w.Name].Binary, w.Name)
			case name == "" && standard != w.Name && r.Kind == kindContainerd: // CRI-O's own default is in none of its files
				reasons[name] = fmt.Sprintf("the configuration of %s has another default handler, %q", r.Kind, standard)
			default:
				reasons[name] = ""
			}
		}
	}
	return reasons, nil
}

// configured returns the handlers of the files that the runtime reads when it starts, and the default one's name.
func (h host) configured(r *record) (map[string]runtimeconf.Handler, string, error) {
	p, err := h.planner(&asked{kind: r.Kind, version: r.RuntimeVersion}, r.Config)
	if err != nil {
		return nil, "", err
	}
	return p.Handlers()
}
