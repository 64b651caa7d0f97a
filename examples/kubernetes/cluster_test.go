package kubernetes_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
)

func TestCluster(t *testing.T) {
	c := shared.Cluster(t)
	pod := run(t, c, &corev1.Pod{})
	t.Run("STK-13 a pod runs on the real kubelet and containerd", func(t *testing.T) {
		if pod.Status.Phase != corev1.PodRunning {
			t.Fatalf("phase %s, want Running: %s", pod.Status.Phase, pod.Status.Message)
		}
		version, err := c.Client().Discovery().ServerVersion()
		if err != nil {
			t.Fatal(err)
		}
		node := c.Node("")
		if version.GitVersion != "v1.37.1" {
			t.Errorf("the API server is %s, want v1.37.1", version.GitVersion)
		}
		t.Logf("API server %s, node %s", version.GitVersion, node.Name)
	})
	t.Run("STK-13 an exec by client-go", func(t *testing.T) {
		got, err := c.Admin().Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Command: []string{"/reporter"}})
		if err != nil || got.Code != 0 {
			t.Fatalf("Exec(…) = %+v, %v", got, err)
		}
		reported(t, got.Stdout)
	})
	t.Run("STK-13 an exec by kubectl, in the audit log", func(t *testing.T) {
		alice, err := c.Certificate("alice", "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		got, err := alice.Kubectl(t.Context(), "exec", pod.Name, "--", "/reporter", "print", "out", "err", "7")
		if err != nil || got.Code != 7 || got.Stdout != "out" {
			t.Fatalf("Kubectl(…) = %+v, %v", got, err)
		}
		events, err := c.AwaitAudit(t.Context(), func(e *auditv1.Event) bool {
			return e.ObjectRef != nil && e.ObjectRef.Subresource == "exec" && e.User.Username == "alice"
		})
		if err != nil {
			t.Fatal(err)
		}
		if e := events[0]; e.AuditID == "" || e.ObjectRef.Name != pod.Name {
			t.Errorf("audit event %+v, want one of the exec into %s", e, pod.Name)
		}
	})
}

// run runs a pod until the test ends.
func run(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	got, err := c.Run(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Remove(context.Background(), got); err != nil {
			t.Error(err)
		}
	})
	return got
}

func reported(t *testing.T, text string) (r report.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil || !slices.Contains(r.Args, "/reporter") {
		t.Fatalf("report %q: %v", text, err)
	}
	return r
}
