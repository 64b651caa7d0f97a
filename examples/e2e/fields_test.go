package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lanyard-dev/lanyard/examples/stack"
)

// fieldNotSupported is the reason of a pod that asks for something which the kubelet does not do.
const fieldNotSupported = "PodFieldNotSupported"

// TestPodFields has what becomes of a pod that asks for something which the reference kubelet does not do.
func TestPodFields(t *testing.T) {
	t.Parallel()
	c := ownWithoutPods(t, stack.Options{Nodes: []stack.Node{{Name: ours}}})
	for path, change := range map[string]func(*corev1.Pod){
		"spec.securityContext.seccompProfile.type": func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		},
		"spec.containers[0].securityContext.seccompProfile.type": func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		},
		"spec.hostUsers": func(p *corev1.Pod) { p.Spec.HostUsers = new(bool) },
		"spec.containers[0].livenessProbe": func(p *corev1.Pod) {
			p.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"false"}}}}
		},
		"spec.containers[0].lifecycle": func(p *corev1.Pod) {
			p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"false"}}}}
		},
		`metadata.annotations["container.apparmor.security.beta.kubernetes.io/app"]`: func(p *corev1.Pod) {
			p.Annotations = map[string]string{"container.apparmor.security.beta.kubernetes.io/app": "runtime/default"}
		},
	} {
		t.Run("STK-10 "+path+" is refused by name", func(t *testing.T) {
			p := pod("refused-"+strings.ToLower(strings.Map(letters, path)), ours)
			change(p)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := c.run(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status.Phase != corev1.PodFailed || got.Status.Reason != fieldNotSupported || !strings.Contains(got.Status.Message, path+":") {
				t.Fatalf("pod is %s, reason %q, message %q, want it failed for %s", got.Status.Phase, got.Status.Reason, got.Status.Message, path)
			}
			if len(got.Status.ContainerStatuses) != 0 {
				t.Errorf("container statuses = %v, want none: no container was made", got.Status.ContainerStatuses)
			}
			if said := c.awaitEvent(ctx, t, got, fieldNotSupported); !strings.Contains(said, path+":") {
				t.Errorf("event = %q, want one that names %s", said, path)
			}
		})
	}
	t.Run("STK-10 a new image of a container that runs is not made, and an event says so", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		p, err := c.run(ctx, pod("changed", ours))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := json.Marshal([]map[string]string{{"op": "replace", "path": "/spec/containers/0/image", "value": "example.invalid/other:v2"}})
		if err != nil {
			t.Fatal(err)
		}
		pods := c.Admin().CoreV1().Pods(p.Namespace)
		if p, err = pods.Patch(ctx, p.Name, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if said := c.awaitEvent(ctx, t, p, fieldNotSupported); !strings.Contains(said, "spec.containers[0].image:") {
			t.Errorf("event = %q, want one that names the image", said)
		}
		if p, err = pods.Get(ctx, p.Name, metav1.GetOptions{}); err != nil || p.Status.Phase != corev1.PodRunning {
			t.Errorf("pod is %s, %v, want it to go on", p.Status.Phase, err)
		}
	})
}

// letters keeps what may stand in a pod's name.
func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}

// awaitEvent waits for an event of that reason on the pod and returns what it says.
func (c *cluster) awaitEvent(ctx context.Context, t *testing.T, p *corev1.Pod, reason string) string {
	t.Helper()
	for {
		events, err := c.Admin().CoreV1().Events(p.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatalf("no event %s on pod %s: %v", reason, p.Name, err)
		}
		for _, e := range events.Items {
			if e.InvolvedObject.UID == p.UID && e.Reason == reason {
				return e.Message
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no event %s on pod %s", reason, p.Name)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
