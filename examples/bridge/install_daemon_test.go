package bridge_test

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// put replaces files of the configuration by others.
func (n *installNode) put(t *testing.T, former, files map[string]string) {
	t.Helper()
	for name := range former {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// daemonSays runs the node's daemon, which must tell whether every handler of the installation is ready.
func (n *installNode) daemonSays(t *testing.T, when string, want bool) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = free.Close()
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(n.dir, "etc", "keys"), []byte(token.Keys{token.NewKey().Public()}.Text()), 0o644)); err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	daemon := exec.Command(parts.Need(t, "lanyard-bridge")[0], "node", "--no-lease", "--node-name", "n1", "--state-dir", filepath.Join(n.dir, "state"), "--metrics-listen", address)
	start := daemon.Start
	if n.pid != 0 {
		start = func() error { return n.inside(daemon.Start) }
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	}()
	var said struct {
		Handlers map[string]struct {
			Ready  bool
			Reason string
		}
	}
	runtimetest.Eventually(t, "the daemon's word", func() bool {
		answer, err := http.Get("http://" + address + "/status")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return json.NewDecoder(answer.Body).Decode(&said) == nil && len(said.Handlers) > 0
	})
	for name, h := range said.Handlers {
		if h.Ready != want || (h.Reason == "") != want {
			t.Errorf("%s: the daemon says of handler %q: %+v, want ready %t", when, name, h, want)
		}
	}
}
