package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// TestExecSessionIdentity is the end-to-end list of KEP-6035, by its names, on the reference runtime and on a real one.
func TestExecSessionIdentity(t *testing.T) {
	c := common(t)
	t.Run("the reference runtime", func(t *testing.T) { sessionIdentity(t, c, ours) })
	t.Run("EXA-37 containerd with our modules", func(t *testing.T) { sessionIdentity(t, c, containerdEnvs) })
}

func sessionIdentity(t *testing.T, c *cluster, pod string) {
	t.Helper()
	t.Run("EXA-10 EXA-15 EXA-19 STK-7 audit ID propagation", func(t *testing.T) {
		// Stock kubectl knows nothing of PodExecOptions.Env: the ID travels without it.
		id := value(t, reported(t, c.alice, "exec", pod, "--", testimage.Program), execaudit.AuditIDName)
		events := audited(t, c, id)
		if len(events) == 0 {
			t.Fatalf("the process has %s=%q, which no audit event has", execaudit.AuditIDName, id)
		}
		if e := events[0]; e.User.Username != "alice" || e.ObjectRef.Name != pod || e.ObjectRef.Subresource != "exec" {
			t.Errorf("audit event is of %s on %s/%s, want alice on %s/exec", e.User.Username, e.ObjectRef.Name, e.ObjectRef.Subresource, pod)
		}
	})
	t.Run("EXA-14 EXA-24 STK-7 user-provided env injection", func(t *testing.T) {
		r := reported(t, c.alice, "exec-env", "--env", "LOG_LEVEL=debug", "--env", "LIST=a=b, c", pod, "--", testimage.Program)
		if got := value(t, r, "LOG_LEVEL"); got != "debug" {
			t.Errorf("LOG_LEVEL = %q, want the caller's debug over the container's info", got)
		}
		if got := value(t, r, "LIST"); got != "a=b, c" {
			t.Errorf("LIST = %q, want %q", got, "a=b, c")
		}
		if value(t, r, execaudit.AuditIDName) == "" {
			t.Errorf("the audit ID is missing beside the caller's environment")
		}
	})
	t.Run("EXA-23 STK-7 concurrent sessions produce distinct audit IDs", func(t *testing.T) {
		alice, bob := newCaller(t, c.alice), newCaller(t, c.bob)
		first, err := alice.hold(t.Context(), pod)
		if err != nil {
			t.Fatal(err)
		}
		second, err := bob.hold(t.Context(), pod)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{value(t, first.report, execaudit.AuditIDName), value(t, second.report, execaudit.AuditIDName)}
		if !first.open() || !second.open() {
			t.Error("the sessions did not overlap")
		}
		for i, user := range []string{"alice", "bob"} {
			if events := audited(t, c, ids[i]); len(events) == 0 || events[0].User.Username != user {
				t.Errorf("audit event %q is not %s's: %v", ids[i], user, events)
			}
		}
		if ids[0] == ids[1] {
			t.Errorf("both sessions have the ID %q", ids[0])
		}
		for _, s := range []*session{first, second} {
			if err := s.close(t); err != nil {
				t.Errorf("session ended with %v", err)
			}
		}
	})
	t.Run("EXA-7 EXA-25 STK-7 spoofing prevention", func(t *testing.T) {
		got := kubectl(t, c.alice, "exec-env", "--env", execaudit.AuditIDName+"=fake", pod, "--", testimage.Program)
		if got.code == 0 || !strings.Contains(got.err, execaudit.AuditIDName+" is reserved by the API server") {
			t.Errorf("exit %d, %s%s, want a refusal that says who reserves the name", got.code, got.out, got.err)
		}
	})
}

// TestExecOverTerminalAndSPDY runs the same session the other ways that kubectl has.
func TestExecOverTerminalAndSPDY(t *testing.T) {
	c := common(t)
	t.Run("STK-5 EXA-19 SPDY", func(t *testing.T) {
		t.Setenv("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "false")
		if id := value(t, reported(t, c.alice, "exec", ours, "--", testimage.Program), execaudit.AuditIDName); len(audited(t, c, id)) == 0 {
			t.Errorf("no audit event has the process's ID %q", id)
		}
	})
	t.Run("STK-5 logs show what the container itself said", func(t *testing.T) {
		got := kubectl(t, c.alice, "logs", ours)
		if !strings.Contains(got.out, `"env"`) || strings.Contains(got.out, execaudit.AuditIDName) {
			t.Errorf("the container's own process said %q, want a report without an audit ID", got.out)
		}
	})
}

// TestCounter reads the API server's own count of what became of each exec.
func TestCounter(t *testing.T) {
	c := common(t)
	t.Run("EXA-13 each exec counts once, a refused one not at all", func(t *testing.T) {
		before := counted(t, c, "injected")
		reported(t, c.alice, "exec", ours, "--", testimage.Program)
		kubectl(t, c.alice, "exec-env", "--env", execaudit.AuditIDName+"=fake", ours, "--", testimage.Program)
		if got := counted(t, c, "injected") - before; got != 1 {
			t.Errorf("one exec and one refused exec counted %d times, want 1", got)
		}
	})
}

// counted returns apiserver_exec_audit_id_injected_total for a result.
func counted(t *testing.T, c *cluster, result string) int {
	t.Helper()
	return metric(t, kubectl(t, c.AdminFile(), "get", "--raw", "/metrics").out, `apiserver_exec_audit_id_injected_total{result="`+result+`"}`)
}

// TestUserStaysBehind looks for the caller in what reaches the node.
func TestUserStaysBehind(t *testing.T) {
	c := common(t)
	t.Run("EXA-27 no user, group or token travels to the node", func(t *testing.T) {
		r := reported(t, c.alice, "exec", ours, "--", testimage.Program)
		for _, e := range r.Env {
			for _, mine := range []string{"alice", "dev", "system:authenticated"} {
				if slices.Contains(strings.Fields(string(e.Value)), mine) {
					t.Errorf("%s holds %q", e.Name, mine)
				}
			}
		}
	})
}
