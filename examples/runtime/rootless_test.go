package runtime_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// TestRootless runs the runtime in a user namespace, with one user and without the machine's cgroups.
func TestRootless(t *testing.T) {
	d := newDaemon(t)
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command(unshare, "--user", "--map-root-user", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("the kernel allows no user namespace: %s", out)
	}
	d.program = append([]string{unshare, "--user", "--map-root-user", "--mount", "--kill-child=SIGKILL", "--fork"}, d.program...)
	d.start(t)
	t.Run("STK-2 EXA-19 AGT-1 rootless: pull, run, exec with an environment, without a mark", func(t *testing.T) {
		ref := push(t, testimage.Spec{Files: map[string]string{"/etc/hello": "hi"}})
		d.node.Pull(t, ref)
		c := d.node.RunPod(t, ownNetwork).Start(t, ref, cmd("sleep"))
		for _, tty := range []bool{false, true} {
			checkEnv(t, reported(t, c, &runtimetest.Session{Cmd: cmd(), Env: auditEnv, TTY: tty}), auditEnv)
		}
		records := readJournal(t, filepath.Join(d.config.Root, "exec-journal.jsonl"))
		for _, r := range records {
			if r.SessionID != 0 || r.LoginUID != 0 {
				t.Errorf("%s has the mark %d, %d, which a user namespace cannot give", r.Kind, r.SessionID, r.LoginUID)
			}
		}
		if len(records) != 6 {
			t.Errorf("%d records of two sessions", len(records))
		}
		c.Stop(t, 0)
		if got := c.Ended(t); got.GetExitCode() != 137 {
			t.Errorf("status = %v", got)
		}
	})
}
