package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEvents(t *testing.T) {
	c := start(t, nil)
	k := c.kubectl(t, "admin-token")
	events := c.client(t, c.admin()).CoreV1().Events("default")
	one := must(c.client(t, c.admin()).CoreV1().Pods("default").Get(t.Context(), "one", metav1.GetOptions{}))(t)
	must(events.Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "one.1"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "one", UID: one.UID, APIVersion: "v1"},
		Type:           corev1.EventTypeWarning, Reason: "ExecEnvUnsupported", Message: "the runtime takes no environment",
		Count: 1, FirstTimestamp: metav1.Now(), LastTimestamp: metav1.Now(), Source: corev1.EventSource{Component: "kubelet"},
	}, metav1.CreateOptions{}))(t)
	t.Run("STK-5 get events and describe show them", func(t *testing.T) {
		contains(t, "get events", k.ok(t, "get", "events"), "Warning", "ExecEnvUnsupported", "Pod/one")
		contains(t, "describe", k.ok(t, "describe", "pod", "one"), "ExecEnvUnsupported", "the runtime takes no environment")
		if out := k.ok(t, "get", "events", "--field-selector", "involvedObject.name=web", "-o", "name"); out != "" {
			t.Errorf("events of another pod: %s", out)
		}
	})
	t.Run("STK-5 nodes show their state, and an unknown selector is refused", func(t *testing.T) {
		contains(t, "get nodes", k.ok(t, "get", "nodes", "-o", "wide"), "n1", "Ready", "v1.37.2")
		o := k.run(t, "", "get", "pods", "--field-selector", "spec.nosuch=1")
		contains(t, "error", o.stderr, `"spec.nosuch" is not a known field selector`)
	})
}
