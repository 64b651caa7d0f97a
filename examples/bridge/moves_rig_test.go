package bridge_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/pids"
	"github.com/lanyard-dev/lanyard/examples/witness"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// watch begins to watch a container by the agent.
func watch(t *testing.T, r *bridge.Rig, pod *corev1.Pod, mode source.Mode) *watcher {
	t.Helper()
	agent, err := witness.Watch(witness.Options{
		Node: pod.Spec.NodeName, Journal: r.JournalFile(), Containers: []string{bridge.ContainerID(pod, "")}, Mode: mode,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{agent}
	t.Cleanup(func() {
		if w.Witness != nil {
			_, _ = w.End()
		}
	})
	return w
}

// watcher is an agent that watches.
type watcher struct{ *witness.Witness }

// told ends the watching and returns the events.
func (w *watcher) told(t *testing.T) []byte {
	t.Helper()
	told, err := w.End()
	if w.Witness = nil; err != nil {
		t.Fatal(err)
	}
	return told.Lines
}

// running returns the processes with a command that ends so.
func running(t *testing.T, container, suffix string) map[int]string {
	t.Helper()
	found, err := pids.Ending(container, suffix)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// settled waits until so many sessions are over in the audit log and nothing waits on the node, and returns the
// journal.
func settled(t *testing.T, r *bridge.Rig, pod *corev1.Pod, over int) []byte {
	t.Helper()
	await(t, "the ends of the sessions in the audit log", func() (bool, error) {
		found, err := r.Audit(func(e *auditv1.Event) bool {
			return e.Stage == auditv1.StageResponseComplete && e.ObjectRef != nil && e.ObjectRef.Name == pod.Name && e.ObjectRef.Subresource == "exec"
		})
		return len(found) >= over, err
	})
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(r.JournalFile())
	if err != nil {
		t.Fatal(err)
	}
	return journal
}

// attribute joins the audit log, a journal and what an agent told.
func attribute(t *testing.T, r *bridge.Rig, journal, told []byte) (answers []attribution.Answer) {
	t.Helper()
	log := func(name string, open func() (io.ReadCloser, error)) *lines.Source {
		return &lines.Source{Files: []lines.Opener{{Name: name, Open: open}}}
	}
	text := func(name string, text []byte) *lines.Source {
		return log(name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	}
	audit := log(r.AuditLog(), func() (io.ReadCloser, error) { return os.Open(r.AuditLog()) })
	m := attribution.New(attribution.Options{Window: attribution.Forever, All: true}, func(a *attribution.Answer) { answers = append(answers, *a) })
	err := join.Files(t.Context(), m, []*lines.Source{audit, text("the journal", journal), text("the agent's events", told)}, join.Trouble{
		Fault: func(f *lines.Fault) { t.Error(f) }, Stopped: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}
