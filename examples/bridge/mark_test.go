package bridge_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

// TestMark tries what a process can do about its mark, and what comes of it.
func TestMark(t *testing.T) {
	r := rigOf(t)
	alice := person(t, r, "alice")
	t.Run("BRG-3 a process in a session cannot set its login UID, as pam_loginuid would", func(t *testing.T) {
		got, err := execute(t, alice, shared.pod, "/reporter", "loginuid", "0")
		if err != nil || got.Code == 0 || !strings.Contains(got.Stderr, "operation not permitted") {
			t.Errorf("exec = %+v, %v, want EPERM", got, err)
		}
	})
	t.Run("BRG-3 an unmarked process that writes a live session's login UID has an audit session that no record has", func(t *testing.T) {
		live := open(t, r, alice, 1, []string{shared.pod.Name}, "hold").Reports[0]
		got := parsed(t, direct(t, r, shared.pod, "/reporter", "loginuid", strconv.Itoa(int(live.LoginUID))))
		if got.LoginUID != live.LoginUID || got.AuditSession == live.AuditSession || got.AuditSession == report.NoSession {
			t.Errorf("login UID %d, audit session %d beside the live session's %d, %d", got.LoginUID, got.AuditSession, live.LoginUID, live.AuditSession)
		}
		w := who(t, r)
		if origin, _ := w.Of(markOf(got)); origin.Verdict != sessions.MarkForged || origin.Claimed.String() != marked(t, live) {
			t.Errorf("it is told as %s of %s: %s, want %s of %s", origin.Verdict, origin.Claimed, origin.Why, sessions.MarkForged, marked(t, live))
		}
		if origin, s := w.Of(markOf(live)); origin.Verdict != sessions.MarkRecorded || s.User.Name != "alice" {
			t.Errorf("the live session is told as %s of %q, want %s of alice", origin.Verdict, s.User.Name, sessions.MarkRecorded)
		}
	})
	t.Run("BRG-3 a container with CAP_AUDIT_CONTROL can mark itself anew, with an audit session that no record has", func(t *testing.T) {
		privileged := &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"AUDIT_CONTROL"}}}
		pod := run(t, r, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{SecurityContext: privileged}}}})
		s := open(t, r, alice, 1, []string{pod.Name}, "loginuid", strconv.Itoa(brg.MinLoginUID), "hold")
		got := s.Reports[0]
		if got.LoginUID != brg.MinLoginUID {
			t.Fatalf("login UID %d, want %d", got.LoginUID, brg.MinLoginUID)
		}
		if origin, session := who(t, r).Of(markOf(got)); origin.Verdict != sessions.MarkForged {
			t.Errorf("it is told as %s of %q: %s, want %s", origin.Verdict, session.User.Name, origin.Why, sessions.MarkForged)
		}
	})
	t.Run("BRG-14 a pod that opts out has sessions without a mark, in which pam_loginuid works", func(t *testing.T) {
		unmarked := &corev1.Pod{}
		unmarked.Annotations = map[string]string{brg.MarkAnnotation: brg.MarkOff}
		optedOut(t, r, run(t, r, unmarked))
	})
	t.Run("BRG-14 a namespace that opts out, too", func(t *testing.T) {
		if err := r.Namespace(t.Context(), "unmarked"); err != nil {
			t.Fatal(err)
		}
		label(t, r, "unmarked", map[string]string{brg.MarkAnnotation: brg.MarkOff})
		pod := &corev1.Pod{}
		pod.Namespace = "unmarked"
		optedOut(t, r, run(t, r, pod))
	})
	t.Run("BRG-3 containers that share their PID namespace have marks of their own sessions", func(t *testing.T) {
		yes := true
		pod := run(t, r, &corev1.Pod{Spec: corev1.PodSpec{ShareProcessNamespace: &yes, Containers: []corev1.Container{{Name: "a"}, {Name: "b"}}}})
		a, b := open(t, r, alice, 1, []string{pod.Name, "-c", "a"}, "hold"), open(t, r, alice, 1, []string{pod.Name, "-c", "b"}, "hold")
		if marked(t, a.Reports[0]) == marked(t, b.Reports[0]) || a.Reports[0].AuditSession == b.Reports[0].AuditSession {
			t.Errorf("both are session %s, audit session %d", a.ID, a.Reports[0].AuditSession)
		}
		for container, s := range map[string]*bridge.Session{"a": a, "b": b} {
			if intent := intentOf(t, r, s.ID); intent.Container != container {
				t.Errorf("the journal has the session in %s as one in %s", container, intent.Container)
			}
		}
	})
}

// optedOut fails the test where a session in the pod has a mark, or no variable.
func optedOut(t *testing.T, r *bridge.Rig, pod *corev1.Pod) {
	t.Helper()
	alice := person(t, r, "alice")
	got := reported(t, alice, pod)
	id, _ := got.Get(brg.SessionName)
	if _, err := brg.ParseSessionID(id); err != nil || got.LoginUID != report.NoSession {
		t.Errorf("session %q, login UID %d, want a session and no login UID", id, got.LoginUID)
	}
	event, err := r.EventOf(t.Context(), id)
	if err != nil || event.User.Username != "alice" {
		t.Errorf("event of the session: %+v, %v", event, err)
	}
	if intent := intentOf(t, r, id); intent.SessionID != 0 {
		t.Errorf("the journal has audit session %d, want none", intent.SessionID)
	}
	if got := reported(t, alice, pod, "loginuid", "1000"); got.LoginUID != 1000 {
		t.Errorf("login UID %d after pam_loginuid, want 1000", got.LoginUID)
	}
	if !slices.Equal(got.Args, []string{"/reporter"}) {
		t.Errorf("arguments %q", got.Args)
	}
}
