//go:build linux

package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// TestNamesOfOneWrapper has one wrapper under several names, as the installer puts it under the default handler: pods
// name that by a runtime class too.
func TestNamesOfOneWrapper(t *testing.T) {
	o := options(t)
	put := func(path string, mode os.FileMode, content []byte) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(o.host(path)), 0o755))
		must(t, os.WriteFile(o.host(path), content, mode))
	}
	const wrapper, other, runtime, keys = "/opt/lanyard-oci-runc", "/opt/lanyard-oci-crun", "/usr/sbin/runc", "/etc/lanyard/keys"
	config := oci.Config{Runtime: runtime, Node: o.Node, Keys: keys, Spool: "/state/spool"}
	for _, program := range []string{wrapper, other, runtime} {
		put(program, 0o755, []byte(program))
	}
	put(keys, 0o644, []byte(token.Keys{token.NewKey().Public()}.Text()))
	put(wrapper+".json", 0o644, config.Encode())
	put(other+".json", 0o644, config.Encode()) // of another handler
	since := time.Date(2026, 11, 22, 11, 0, 0, 0, time.UTC)
	handlers := map[string]installed.Handler{}
	for name, path := range map[string]string{"": wrapper, "runc": wrapper, "crun": other} {
		handlers[name] = installed.Handler{Mode: "drop-in", Since: since, Wrapper: path, Runtime: runtime, Config: path + ".json"}
	}
	must(t, installed.State{Handlers: handlers}.Save(o.host("/state/"+installed.File)))
	put(containerdFile, 0o644, []byte(containerdText(wrapper)+`[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.crun.options]
BinaryName = "`+other+`"
`))
	recordInstallation(t, o, "drop-in",
		installation{Name: "runc", Handlers: []string{"", "runc"}, Wrapper: wrapper, Executed: wrapper},
		installation{Name: "crun", Handlers: []string{"crun"}, Wrapper: other, Executed: other})
	o = o.withDefaults()
	ready, status, err := o.check()
	must(t, err)
	t.Run("BRG-13 a handler is ready under each of its names", func(t *testing.T) {
		for _, name := range []string{"", "runc"} {
			if _, ok := ready.Handlers[name]; !ok {
				t.Errorf("handler %q is not ready: %s", name, status[name].Reason)
			}
		}
	})
	t.Run("BRG-13 a wrapper with another one's configuration is not ready", func(t *testing.T) {
		if _, ok := ready.Handlers["crun"]; ok || status["crun"].Reason == "" {
			t.Errorf("ready %v, status %+v", ready.Handlers, status["crun"])
		}
	})
}
