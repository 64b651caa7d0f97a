package apiserver_test

import (
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// TestPlugin runs `kubectl exec-env`, the plugin, through the unmodified kubectl.
func TestPlugin(t *testing.T) {
	if _, err := parts.Find("kubectl-exec_env"); err != nil {
		t.Skip(err)
	}
	c := start(t, nil)
	k := c.kubectl(t, "admin-token")
	t.Run("EXA-24 --env is repeatable and its value keeps '=', commas and spaces", func(t *testing.T) {
		out := k.ok(t, "exec-env", "--env", "A=x=y,z w", "--env", "B=", "one", "--", "env")
		contains(t, "environment", out, "A=x=y,z w\nB=\nKUBERNETES_EXEC_AUDIT_ID=")
		location, _ := c.kubelet.last(t)
		if got := location.Query()["env"][:2]; !slices.Equal(got, []string{"A=x=y,z w", "B="}) {
			t.Errorf("env = %q", got)
		}
	})
	t.Run("EXA-24 KEY alone is an error before anything is sent", func(t *testing.T) {
		before := c.kubelet.count()
		o := k.run(t, "", "exec-env", "--env", "KEYALONE", "one", "--", "env")
		if o.code == 0 || c.kubelet.count() != before {
			t.Errorf("exit %d", o.code)
		}
		contains(t, "error", o.stderr, "must be NAME=VALUE")
	})
	t.Run("EXA-24 standard input, exit code and container are kubectl's", func(t *testing.T) {
		if o := k.run(t, "in and out", "exec-env", "--env", "A=1", "-i", "web", "-c", "side", "--", "cat"); o.stdout != "in and out" {
			t.Errorf("cat = %+v", o)
		}
		if o := k.run(t, "", "exec-env", "--env", "A=1", "one", "--", "exit"); o.code != 3 {
			t.Errorf("exit = %+v", o)
		}
	})
	t.Run("EXA-33 the gate off is said and nothing is run", func(t *testing.T) {
		off := start(t, withGates(t, ""))
		k := off.kubectl(t, "admin-token")
		o := k.run(t, "", "exec-env", "--env", "A=1", "one", "--", "env")
		if o.code != 1 || o.stdout != "" || off.kubelet.count() != 0 {
			t.Errorf("exit %d, printed %q, kubelet asked %d times", o.code, o.stdout, off.kubelet.count())
		}
		contains(t, "error", o.stderr, "does not take --env", "ExecEnvVar", "nothing was run")
		contains(t, "without --env", k.ok(t, "exec-env", "one", "--", "env"), "\n")
	})
	t.Run("EXA-33 EXA-21 an older server is said and nothing is run", func(t *testing.T) {
		old := start(t, asMinor(t, 36))
		o := old.kubectl(t, "admin-token").run(t, "", "exec-env", "--env", "A=1", "one", "--", "env")
		if o.code != 1 || old.kubelet.count() != 0 {
			t.Errorf("exit %d, kubelet asked %d times", o.code, old.kubelet.count())
		}
		contains(t, "error", o.stderr, "older than the feature")
	})
	t.Run("EXA-33 no right to exec is told from no support", func(t *testing.T) {
		o := c.kubectl(t, "bob-token").run(t, "", "exec-env", "--env", "A=1", "pod/one", "--", "env")
		if o.code != 1 {
			t.Errorf("exit %d", o.code)
		}
		contains(t, "error", o.stderr, "forbidden")
	})
}
