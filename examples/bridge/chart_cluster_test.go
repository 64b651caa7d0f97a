package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// TestChartOnKubernetes applies the chart to a real API server without nodes.
func TestChartOnKubernetes(t *testing.T) {
	c := kubernetes.Own(t, kubernetes.Options{Nodes: []kubernetes.Node{}})
	for _, name := range []string{bridge.Namespace, "team", "security"} {
		if err := c.Namespace(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("helm", func(t *testing.T) { chartHelm(t, c) })
	for name, values := range renderings(t) {
		t.Run("BRG-9 the API server knows every field: "+name, func(t *testing.T) {
			objects := render(t, bridge.Release{Values: values, Config: c.Admin().Config})
			if err := objects.Apply(t.Context(), c.Admin().Config, bridge.Namespace); err != nil {
				t.Error(err)
			}
			if err := objects.Delete(t.Context(), c.Admin().Config, bridge.Namespace); err != nil {
				t.Error(err)
			}
		})
	}
	if err := render(t, bridge.Release{}).Apply(t.Context(), c.Admin().Config, bridge.Namespace); err != nil {
		t.Fatal(err)
	}
	t.Run("pods", func(t *testing.T) { chartPods(t, c) })
	t.Run("rights", func(t *testing.T) { chartRights(t, c) })
	t.Run("leases", func(t *testing.T) { chartLeases(t, c) })
	t.Run("dead webhook", func(t *testing.T) { chartDeadWebhook(t, c) })
}

// chartSoon waits for what the API server's watches bring.
func chartSoon(t *testing.T, what string, is func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return is(), nil }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// chartPods asks the API server's pod security admission about the pods that the chart's workloads are of.
func chartPods(t *testing.T, c *kubernetes.Cluster) {
	admits := func(level string, template corev1.PodTemplateSpec) error {
		namespace := "level-" + level
		_, err := c.Client().CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			if err := c.Namespace(t.Context(), namespace); err != nil {
				t.Fatal(err)
			}
			patch := fmt.Sprintf(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": %q}}}`, level)
			_, err = c.Client().CoreV1().Namespaces().Patch(t.Context(), namespace, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"}, Spec: template.Spec}
		pod.Spec.ServiceAccountName = "default"
		_, err = c.Client().CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	t.Run("BRG-9 the webhook's pods meet the level restricted", func(t *testing.T) {
		webhook := typed[appsv1.Deployment](t, render(t, bridge.Release{}), "Deployment", "lanyard-bridge-webhook")
		if err := admits("restricted", webhook.Spec.Template); err != nil {
			t.Error(err)
		}
	})
	for _, mode := range []string{"runtimeclass", "drop-in", "bind"} {
		t.Run("BRG-9 a node's pods need the host's paths and process IDs, and mode bind alone a capability: "+mode, func(t *testing.T) {
			node := typed[appsv1.DaemonSet](t, render(t, bridge.Release{Values: mapping{"node": mapping{"mode": mode}}}), "DaemonSet", "lanyard-bridge-node")
			if err := admits("privileged", node.Spec.Template); err != nil {
				t.Error(err)
			}
			err := admits("baseline", node.Spec.Template)
			if err == nil {
				t.Fatal("they meet the level baseline")
			}
			text := err.Error()
			for what, want := range map[string]bool{
				"hostPID=true": true, "hostPath volumes": true, "privileged (container": false, "non-default capabilities": mode == "bind",
				"AppArmor": mode == "bind", "host namespaces (hostNetwork": false, "hostPort": false, "seccompProfile": false,
			} {
				if strings.Contains(text, what) != want {
					t.Errorf("%q in the refusal: %t, want %t\n%s", what, !want, want, text)
				}
			}
		})
	}
}
