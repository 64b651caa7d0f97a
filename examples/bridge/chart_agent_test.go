package bridge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// agentLine is what the tests read of an agent's line.
type agentLine struct {
	Event, Role, Notice, Reason, ContainerID, Pod string
	SessionID                                     uint32
	Argv                                          []string
	Session                                       struct{ ExecSession, Pod, Container string }
}

// agentSees runs the chart's agent on the node, and a session in a pod whose sessions are marked.
func agentSees(t *testing.T, c *kubernetes.Cluster, w *kubernetes.Worker) {
	if err := w.Do(func() error { return unix.Mount("bpf", "/sys/fs/bpf", "bpf", 0, "") }); err != nil {
		t.Fatal(err)
	}
	objects := render(t, bridge.Release{Values: mapping{"image": mapping{"registry": "localhost"}, "agent": mapping{"enabled": true}}})
	if err := objects.Only("ServiceAccount").Apply(t.Context(), c.Admin().Config, bridge.Namespace); err != nil {
		t.Fatal(err)
	}
	agent := podOf(t, c, typed[appsv1.DaemonSet](t, objects, "DaemonSet", "lanyard-agent").Spec.Template)
	ready(t, c, agent)
	class := "lanyard"
	pod, err := c.Run(t.Context(), &corev1.Pod{Spec: corev1.PodSpec{RuntimeClassName: &class}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Admin().Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Command: []string{testimage.Program}})
	if err != nil || got.Code != 0 {
		t.Fatal("exec:", got, err)
	}
	id, _ := parsed(t, got.Stdout).Get(brg.SessionName)
	var lines []agentLine
	chartSoon(t, "the session's end is told", func() bool {
		lines = agentLines(t, w.Private("/var/log/lanyard/events.jsonl"))
		return slices.ContainsFunc(lines, func(l agentLine) bool { return l.Event == "exit" && l.Role == "session" && l.Session.ExecSession == id })
	})
	var ran []agentLine
	for _, l := range lines {
		if l.Event == "exec" && l.Role == "session" && l.Session.ExecSession == id {
			ran = append(ran, l)
		}
	}
	if len(ran) != 1 || !slices.Equal(ran[0].Argv, []string{testimage.Program}) || ran[0].Session.Pod != pod.Name || ran[0].ContainerID == "" {
		t.Errorf("session %s ran %+v, want %s once\n%s", id, ran, testimage.Program, said(t, c, agent))
	}
	status, err := c.Admin().Exec(t.Context(), kubernetes.Session{Namespace: bridge.Namespace, Pod: agent.Name, Command: []string{"/execaudit-agent", "status"}})
	// The exit code is about the machine as a whole, on which other tests make sessions, too.
	if err != nil || !strings.Contains(status.Stdout, "sees by       ebpf, pinned") || !strings.Contains(status.Stdout, "capabilities  none") {
		t.Errorf("status: %+v, %v", status, err)
	}
	if err := c.Remove(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if err := c.Remove(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(func() error { return os.RemoveAll("/sys/fs/bpf/execaudit-agent") }); err != nil {
		t.Error(err)
	}
	if err := w.Do(func() error { return unix.Unmount("/sys/fs/bpf", unix.MNT_DETACH) }); err != nil {
		t.Error(err)
	}
}

// agentLines are those of the file; none where it is not there yet.
func agentLines(t *testing.T, file string) (out []agentLine) {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var l agentLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, l)
	}
	return out
}
