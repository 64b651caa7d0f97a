package bridge_test

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// TestOtherWaysIn has people come into a pod by what is not an exec.
func TestOtherWaysIn(t *testing.T) {
	r := rigOf(t)
	t.Run("BRG-7 kubectl debug: the ephemeral container has the variable, as a hint, and the audit event the ID", func(t *testing.T) {
		debugger, pod := person(t, r, "debugger"), run(t, r, &corev1.Pod{})
		got, err := debugger.Kubectl(t.Context(), "debug", pod.Name, "--image="+kubernetes.Image, "--image-pull-policy=Never", "--container=dbg", "--", "/reporter", "sleep")
		if err != nil || got.Code != 0 {
			t.Fatalf("kubectl debug = %+v, %v", got, err)
		}
		awaitEphemeral(t, r, pod)
		logs, err := r.Admin().Kubectl(t.Context(), "logs", pod.Name, "-c", "dbg")
		if err != nil || logs.Code != 0 {
			t.Fatalf("kubectl logs = %+v, %v", logs, err)
		}
		id, _ := parsed(t, logs.Stdout).Get(brg.SessionName)
		event, err := r.EventOf(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if event.User.Username != "debugger" || !strings.HasPrefix(event.Annotations[brg.AuditOutcome], string(brg.OutcomeHint)) {
			t.Errorf("event of %s with %v, want debugger's with outcome %s", event.User.Username, event.Annotations, brg.OutcomeHint)
		}
		t.Run("BRG-7 an exec into it is a session of its own", func(t *testing.T) {
			got, err := debugger.Kubectl(t.Context(), "exec", pod.Name, "-c", "dbg", "--", "/reporter")
			if err != nil || got.Code != 0 {
				t.Fatalf("kubectl exec = %+v, %v", got, err)
			}
			if own := marked(t, parsed(t, got.Stdout)); own == id {
				t.Errorf("it is session %s, that of the container", own)
			}
		})
	})
	t.Run("BRG-7 attach is recorded", func(t *testing.T) {
		attacher := person(t, r, "attacher")
		ended := begin(t, r, attacher, "attach", shared.pod.Name)
		recorded(t, r, "attacher", "attach")
		ended()
	})
	t.Run("BRG-7 port-forward is recorded", func(t *testing.T) {
		forwarder := person(t, r, "forwarder")
		ended := begin(t, r, forwarder, "port-forward", shared.pod.Name, ":9")
		recorded(t, r, "forwarder", "portforward")
		ended()
	})
}

// begin starts kubectl, which has said something when it returns or has reached the API server; the function ends it.
func begin(t *testing.T, r *bridge.Rig, user *kubernetes.User, args ...string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, parts.Need(t, "kubectl")[0], args...)
	cmd.Env = []string{"KUBECONFIG=" + user.Kubeconfig, "HOME=" + r.Dir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if args[0] == "port-forward" {
		// kubectl opens the connection to the pod when somebody connects, and the stream before.
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return func() { cancel(); _ = cmd.Wait() }
}

// recorded waits for the user's audit event, which is to say that the session was recorded, under an ID.
func recorded(t *testing.T, r *bridge.Rig, user, subresource string) {
	t.Helper()
	events, err := r.EventsBy(t.Context(), user, subresource)
	if err != nil {
		t.Fatal(err)
	}
	event := events[len(events)-1]
	if !strings.HasPrefix(event.Annotations[brg.AuditOutcome], string(brg.OutcomeRecorded)) {
		t.Errorf("annotations %v, want outcome %s", event.Annotations, brg.OutcomeRecorded)
	}
	id := event.Annotations[brg.AuditSession]
	if _, err := brg.ParseSessionID(id); err != nil {
		t.Fatalf("session %q: %v", id, err)
	}
	if record := admittedAs(t, r, id); record.User.Name != user || record.Pod != shared.pod.Name {
		t.Errorf("record %+v, want one of %s in %s", record, user, shared.pod.Name)
	}
}

func awaitEphemeral(t *testing.T, r *bridge.Rig, pod *corev1.Pod) {
	t.Helper()
	err := kubernetes.Await(t.Context(), "ephemeral container of "+pod.Name, func(ctx context.Context) (bool, error) {
		got, err := r.Client().CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, s := range got.Status.EphemeralContainerStatuses {
			if s.State.Running != nil {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
