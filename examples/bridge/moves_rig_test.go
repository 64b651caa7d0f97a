package bridge_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/pids"
	"github.com/lanyard-dev/lanyard/examples/procwatch"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// watch begins to watch a container; told ends that and returns what the kernel told.
func watch(t *testing.T, pod *corev1.Pod, container string) (told func() []byte) {
	t.Helper()
	w, err := procwatch.Open(procwatch.Options{Node: pod.Spec.NodeName, Containers: func(id string) bool { return id == container }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	var text bytes.Buffer
	ended := make(chan error, 1)
	go func() { ended <- w.Follow(ctx, &text) }()
	return func() []byte {
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := w.Counts(); got.Overruns > 0 {
			t.Fatalf("the kernel dropped events: %+v", got)
		}
		return text.Bytes()
	}
}

// takePID has a session's process fork until one of its children has a PID of those that are gone, and returns that.
func takePID(t *testing.T, container string, gone []int, session *bridge.Session) int {
	t.Helper()
	const batches, children = 10, 20
	for batch := range batches {
		name, text := fmt.Sprintf("try-%d,name=mallory", batch), ""
		for n := range children {
			text += fmt.Sprintf("%d-%s\n", n, name)
		}
		stop := pids.Recycle(gone)
		if err := session.Say(text); err != nil {
			t.Fatal(err)
		}
		await(t, "the children to run", func() (bool, error) { return len(running(t, container, name)) == children, nil })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for pid := range running(t, container, name) {
			if slices.Contains(gone, pid) {
				return pid
			}
		}
	}
	t.Fatalf("no child has one of the PIDs %v", gone)
	return 0
}

// running returns the processes with a command that ends so.
func running(t *testing.T, container, suffix string) map[int]string {
	t.Helper()
	found, err := pids.In(container)
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(found, func(_ int, command string) bool { return !strings.HasSuffix(command, suffix) })
	return found
}

// attribute joins the audit log, the node's journal and what the kernel told, once so many sessions are over.
func attribute(t *testing.T, r *bridge.Rig, pod *corev1.Pod, told []byte, over int) (answers []attribution.Answer) {
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
	file := func(path string) *lines.Source {
		return &lines.Source{Files: []lines.Opener{{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}}}
	}
	events := &lines.Source{Files: []lines.Opener{{Name: "process events", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(told)), nil
	}}}}
	m := attribution.New(attribution.Options{Window: attribution.Forever, All: true}, func(a *attribution.Answer) { answers = append(answers, *a) })
	err := join.Files(t.Context(), m, []*lines.Source{file(r.AuditLog()), file(r.JournalFile()), events}, join.Trouble{
		Fault: func(f *lines.Fault) { t.Error(f) }, Stopped: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}
