package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// TestNotCovered has sessions in containers that are not the wrapper's, under both policies.
func TestNotCovered(t *testing.T) {
	r := rigOf(t)
	class := bridge.BareClass
	bare := run(t, r, &corev1.Pod{Spec: corev1.PodSpec{RuntimeClassName: &class}})
	pods := map[string]*corev1.Pod{"older than the wrapper": shared.older, "of a runtime handler without the wrapper": bare}
	for what, pod := range pods {
		t.Run("BRG-5 BRG-11 BRG-13 a container "+what+": its session goes on unmarked, and the audit event says so", func(t *testing.T) {
			user := person(t, r, "unmarked-"+pod.Name)
			plain(t, reported(t, user, pod))
			events, err := r.EventsBy(t.Context(), user.Name, "exec")
			if err != nil {
				t.Fatal(err)
			}
			outcome := events[0].Annotations[brg.AuditOutcome]
			if !strings.HasPrefix(outcome, string(brg.OutcomeUnmarked)+": ") {
				t.Errorf("outcome %q, want %s and why", outcome, brg.OutcomeUnmarked)
			}
			t.Log(outcome)
		})
	}
	t.Run("BRG-5 policy refuse", func(t *testing.T) {
		if err := r.RestartWebhook(t.Context(), "--unready=refuse"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.RestartWebhook(ctxOfCleanup()); err != nil {
				t.Fatal(err)
			}
		})
		for what, pod := range pods {
			t.Run("BRG-5 BRG-13 a container "+what+": its session is refused and told why", func(t *testing.T) {
				user := person(t, r, "refused-"+pod.Name)
				got, err := user.Kubectl(t.Context(), "exec", pod.Name, "--", "/reporter")
				if err != nil || got.Code == 0 || !strings.Contains(got.Stderr, "denied the request") {
					t.Errorf("kubectl exec = %+v, %v, want that it is refused", got, err)
				}
				t.Log(got.Stderr)
			})
		}
		t.Run("BRG-13 a container that is covered: its session is marked", func(t *testing.T) {
			marked(t, reported(t, person(t, r, "alice"), shared.pod))
		})
	})
	t.Run("BRG-11 a container that is older goes on: it can be stopped and removed", func(t *testing.T) {
		if err := r.Remove(t.Context(), shared.older); err != nil {
			t.Error(err)
		}
	})
}

// label gives a namespace labels.
func label(t *testing.T, r *bridge.Rig, namespace string, labels map[string]string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Client().CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
