package bridge_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestSession(t *testing.T) {
	r := rigOf(t)
	alice, bob := person(t, r, "alice"), person(t, r, "bob")
	t.Run("BRG-1 the first process of a kubectl exec has the ID of the audit event, in an image with nothing else", func(t *testing.T) {
		s := open(t, r, alice, 1, []string{shared.pod.Name}, "hold")
		id := marked(t, s.Reports[0])
		event, err := r.EventOf(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if event.User.Username != "alice" || event.ObjectRef.Name != shared.pod.Name || event.ObjectRef.Subresource != "exec" {
			t.Errorf("the event with the ID is of %s, %+v, want alice's exec", event.User.Username, event.ObjectRef)
		}
		if got := event.Annotations[brg.AuditOutcome]; got != string(brg.OutcomeMarked) {
			t.Errorf("%s is %q, want %q", brg.AuditOutcome, got, brg.OutcomeMarked)
		}
		if got := event.Annotations[brg.AuditNode]; got != shared.pod.Spec.NodeName {
			t.Errorf("%s is %q, want %q", brg.AuditNode, got, shared.pod.Spec.NodeName)
		}
	})
	t.Run("BRG-2 the command is what was asked for, and no running process has the token", func(t *testing.T) {
		s := open(t, r, alice, 1, []string{shared.pod.Name}, "hold", "a b", "ü")
		if want := []string{"/reporter", "hold", "a b", "ü"}; !slices.Equal(s.Reports[0].Args, want) {
			t.Errorf("arguments %q, want %q", s.Reports[0].Args, want)
		}
		noToken(t, r, shared.pod)
	})
	t.Run("BRG-3 two users at once in one container have sessions of their own", func(t *testing.T) {
		first, second := open(t, r, alice, 1, []string{shared.pod.Name}, "hold"), open(t, r, bob, 1, []string{shared.pod.Name}, "hold")
		for user, s := range map[string]*bridge.Session{"alice": first, "bob": second} {
			event, err := r.EventOf(t.Context(), marked(t, s.Reports[0]))
			if err != nil {
				t.Fatal(err)
			}
			if event.User.Username != user {
				t.Errorf("the session of %s is in the audit log as that of %s", user, event.User.Username)
			}
		}
		if a, b := first.Reports[0], second.Reports[0]; first.ID == second.ID || a.AuditSession == b.AuditSession {
			t.Errorf("sessions %s, %d and %s, %d, want different ones", first.ID, a.AuditSession, second.ID, b.AuditSession)
		}
	})
	t.Run("BRG-3 every descendant keeps the mark, however it leaves", func(t *testing.T) {
		ways := []string{"child", "session", "daemon", "sibling"}
		s := open(t, r, alice, 1+len(ways), []string{shared.pod.Name}, append([]string{"descend"}, ways...)...)
		marked(t, s.Reports[0])
		for _, p := range s.Reports {
			if p.AuditSession != s.Reports[0].AuditSession || p.LoginUID != s.Reports[0].LoginUID {
				t.Errorf("%q: audit session %d, login UID %d, want %d, %d", p.Args, p.AuditSession, p.LoginUID, s.Reports[0].AuditSession, s.Reports[0].LoginUID)
			}
		}
		found, err := bridge.Processes(func(p bridge.Process) bool { return p.Session == s.Reports[0].AuditSession })
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != len(s.Reports) {
			t.Errorf("this machine has %d processes of the session, want %d: %+v", len(found), len(s.Reports), found)
		}
	})
	t.Run("BRG-3 a child that empties its environment keeps the mark", func(t *testing.T) {
		s := open(t, r, alice, 1, []string{shared.pod.Name}, "bare", "hold")
		got := s.Reports[0]
		if len(got.Env) != 0 || got.AuditSession == report.NoSession {
			t.Errorf("environment %v, audit session %d", got.Env, got.AuditSession)
		}
	})
	t.Run("BRG-1 a terminal session has it too", func(t *testing.T) {
		got, err := alice.Kubectl(t.Context(), "exec", "-it", shared.pod.Name, "--", "/reporter")
		if err != nil || got.Code != 0 {
			t.Fatalf("kubectl exec -it = %+v, %v", got, err)
		}
		marked(t, parsed(t, got.Stdout))
	})
	t.Run("BRG-5 probes and hooks are as before", func(t *testing.T) {
		probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/reporter"}}}, PeriodSeconds: 1}
		run(t, r, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			ReadinessProbe: probe, Lifecycle: &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: probe.Exec}},
		}}}})
	})
	t.Run("BRG-5 a direct ExecSync without a token is as before", func(t *testing.T) {
		plain(t, parsed(t, direct(t, r, shared.pod, "/reporter")))
	})
}

// noToken fails the test where a process of the pod's first container has a token in its arguments.
func noToken(t *testing.T, r *bridge.Rig, pod *corev1.Pod) {
	t.Helper()
	found, err := r.Inside(t.Context(), pod)
	if err != nil || len(found) == 0 {
		t.Fatalf("processes of the container: %d, %v", len(found), err)
	}
	for _, p := range found {
		if slices.ContainsFunc(p.Args, token.Like) {
			t.Errorf("process %d has a token in its arguments", p.PID)
		}
	}
}

// direct runs a command in the pod's first container by the node's runtime, and returns what it printed.
func direct(t *testing.T, r *bridge.Rig, pod *corev1.Pod, command ...string) string {
	t.Helper()
	cri := dial(t, r.Node(pod.Spec.NodeName).Socket())
	got, err := cri.Run(t.Context(), bridge.ContainerID(pod, ""), command...)
	if err != nil || got.ExitCode != 0 {
		t.Fatalf("ExecSync(%q) = %v, %v", command, got, err)
	}
	return string(got.Stdout)
}

func dial(t *testing.T, socket string) *bridge.CRI {
	t.Helper()
	cri, err := bridge.DialCRI(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cri.Close() })
	return cri
}
