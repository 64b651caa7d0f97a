package e2e_test

import (
	"context"
	"net"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// TestGateChanges turns the gates off and on again while a session is open.
func TestGateChanges(t *testing.T) {
	c := own(t, stack.Options{ExecGates: true, Nodes: []stack.Node{{Name: ours}}})
	alice := newCaller(t, c.alice)
	carries := func(r report.Report) bool { return value(t, r, execaudit.AuditIDName) != "" }
	// A session may fail while kubelets change: one that just started does not know its pods yet.
	session := func() (r report.Report) {
		t.Helper()
		await(t, "a session", func() (done bool) {
			var err error
			r, err = alice.report(t.Context(), ours)
			return err == nil
		})
		return r
	}
	set := func(on bool) func(*kubelet.Config) {
		return func(config *kubelet.Config) { config.FeatureGates["ExecEnvVar"] = on }
	}
	t.Run("EXA-34 a change of gates ends no open session", func(t *testing.T) {
		open, err := alice.hold(t.Context(), ours)
		if err != nil {
			t.Fatal(err)
		}
		before, err := c.ReplaceKubelet(t.Context(), ours, set(false))
		if err != nil {
			t.Fatal(err)
		}
		defer before.Stop(10 * time.Second)
		await(t, "new sessions to carry nothing", func() bool { return !carries(session()) })
		if !open.open() {
			t.Error("the session that was open ended")
		}
		if err := open.close(t); err != nil {
			t.Errorf("the session that was open ended with %v", err)
		}
	})
	t.Run("EXA-22 disabled at the kubelet, then enabled again", func(t *testing.T) {
		// Both kubelets reported the node; the last report may be that of the one which has stopped.
		await(t, "the node to report the address of the kubelet that runs", func() bool {
			conn, err := net.Dial("tcp", c.kubeletAddress(t, ours))
			return err == nil && conn.Close() == nil
		})
		if carries(session()) {
			t.Error("a kubelet with the gate off passes an environment on")
		}
		if err := c.RestartKubelet(t.Context(), ours, set(true)); err != nil {
			t.Fatal(err)
		}
		await(t, "new sessions to carry the ID again", func() bool { return carries(session()) })
	})
}

// await returns when a condition holds, and fails the test when it does not within half a minute.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	met := func(context.Context) (bool, error) { return so(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, met); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
