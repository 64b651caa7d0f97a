//go:build linux

package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

// recordFile is what the installer remembers of its own work, in the state directory.
const recordFile = "install.json"

const recordVersion = 1

// record is what was done, so that it can be undone.
type record struct {
	Version int    `json:"version"`
	Mode    Mode   `json:"mode"`
	Kind    string `json:"runtime"`
	// RuntimeVersion is the one that the runtime had: it says how its files are merged.
	RuntimeVersion string `json:"runtimeVersion,omitempty"`
	Config         string `json:"config,omitempty"`
	Socket         string `json:"socket"`
	// Leaving: uninstall was asked for, and something is still there that cannot go yet.
	Leaving bool               `json:"leaving,omitempty"`
	Wrapped []wrapped          `json:"wrapped"`
	Edits   []runtimeconf.Edit `json:"edits,omitempty"`
	// Directories are those that were made for the edits, the innermost first.
	Directories []string `json:"directories,omitempty"`
}

// wrapped is one program that the wrapper stands for.
type wrapped struct {
	// Name is the handler's own.
	Name string `json:"name"`
	// Handlers are the names that pods know it by; the default handler's is "" beside its own. In mode bind they are
	// all that execute the covered file.
	Handlers []string `json:"handlers"`
	// Added: the handler is the installation's own.
	Added bool `json:"added,omitempty"`
	// Wrapper is the wrapper's file, Executed the path that is executed: the same, or the covered one in mode bind.
	Wrapper  string `json:"wrapper"`
	Executed string `json:"executed"`
	// Real is the real runtime as the wrapper reaches it, Config the wrapper's configuration.
	Real   string `json:"real"`
	Config string `json:"config"`
}

// load returns the record, or nil where nothing is installed.
func (h host) load(state string) (*record, error) {
	path := filepath.Join(state, recordFile)
	text, err := h.read(path)
	if err != nil || text == nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil || r.Version != recordVersion {
		return nil, fmt.Errorf("%s: not the record of an installation of version %d", path, recordVersion)
	}
	return &r, nil
}

func (h host) save(state string, r *record) error {
	r.Version = recordVersion
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	// An edit holds a line of the runtime's configuration.
	return h.write(filepath.Join(state, recordFile), append(text, '\n'), 0o600)
}

// tell changes what the node's daemon is told; change returns false where nothing is to be written.
func (h host) tell(state string, change func(map[string]installed.Handler) bool) error {
	path := h.path(filepath.Join(state, installed.File))
	told, err := installed.Load(path)
	if err != nil {
		return err
	}
	if told.Handlers == nil {
		told.Handlers = map[string]installed.Handler{}
	}
	if !change(told.Handlers) {
		return nil
	}
	return told.Save(path)
}

// told returns what the node's daemon is told.
func (h host) told(state string) (map[string]installed.Handler, error) {
	s, err := installed.Load(h.path(filepath.Join(state, installed.File)))
	return s.Handlers, err
}
