package kubernetes_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

func TestReferenceKubelet(t *testing.T) {
	kubernetes.Need(t, "lanyard-kubelet")
	c := kubernetes.Own(t, kubernetes.Options{Nodes: []kubernetes.Node{{Reference: func(*kubelet.Config) {}}}})
	t.Run("STK-13 the reference kubelet under the real API server runs a pod, and execs", func(t *testing.T) {
		without := false
		pod := run(t, c, &corev1.Pod{Spec: corev1.PodSpec{AutomountServiceAccountToken: &without}})
		if pod.Status.Phase != corev1.PodRunning {
			t.Fatalf("phase %s, want Running: %s", pod.Status.Phase, pod.Status.Message)
		}
		got, err := c.Admin().Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Command: []string{"/reporter"}})
		if err != nil || got.Code != 0 {
			t.Fatalf("Exec(…) = %+v, %v", got, err)
		}
		reported(t, got.Stdout)
		if got, err = c.Admin().Kubectl(t.Context(), "exec", pod.Name, "--", "/reporter", "exit", "7"); err != nil || got.Code != 7 {
			t.Errorf("Kubectl(…) = %+v, %v", got, err)
		}
		if got, err = c.Admin().Kubectl(t.Context(), "logs", pod.Name); err != nil || got.Code != 0 {
			t.Errorf("Kubectl(logs) = %+v, %v", got, err)
		}
	})
	t.Run("STK-13 the reference kubelet makes no projected volume, so a pod says that it wants no token", func(t *testing.T) {
		pod := run(t, c, &corev1.Pod{})
		if pod.Status.Phase != corev1.PodFailed || !strings.Contains(pod.Status.Message, "projected") {
			t.Errorf("phase %s: %s, want Failed for a projected volume", pod.Status.Phase, pod.Status.Message)
		}
	})
	t.Run("STK-13 the real API server proxies to no node on loopback, where the reference kubelet is", func(t *testing.T) {
		err := c.Client().CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/n1/proxy/healthz").Do(t.Context()).Error()
		if err == nil || !strings.Contains(err.Error(), "address not allowed") {
			t.Errorf("nodes/proxy: %v, want that the address is not allowed", err)
		}
	})
}

func TestReferenceAPIServer(t *testing.T) {
	kubernetes.Need(t, "lanyard-apiserver")
	c := kubernetes.Own(t, kubernetes.Options{Reference: true})
	t.Run("STK-13 the real kubelet registers with the reference API server and asks it who may do what", func(t *testing.T) {
		nobody, err := c.Certificate("nobody")
		if err != nil {
			t.Fatal(err)
		}
		for user, want := range map[*kubernetes.User]int{c.Admin(): http.StatusOK, nobody: http.StatusForbidden} {
			if got := status(t, user, c.Node("").URL()+"/pods"); got != want {
				t.Errorf("%s: GET /pods of the kubelet: %d, want %d", user.Name, got, want)
			}
		}
		if err := c.Client().CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/n1/proxy/healthz").Do(t.Context()).Error(); err != nil {
			t.Errorf("nodes/proxy: %v", err)
		}
	})
	t.Run("STK-13 the real kubelet starts no container without services, which the reference API server does not have", func(t *testing.T) {
		pod, err := c.Create(t.Context(), &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		if err := kubernetes.Await(t.Context(), "the reason", func(ctx context.Context) (bool, error) {
			now, err := c.Client().CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
			if err != nil || len(now.Status.ContainerStatuses) == 0 || now.Status.ContainerStatuses[0].State.Waiting == nil {
				return false, errors.Join(err, errors.New("no waiting container"))
			}
			waiting := now.Status.ContainerStatuses[0].State.Waiting
			return strings.Contains(waiting.Message, "services have not yet been read"), errors.New(waiting.Reason + ": " + waiting.Message)
		}); err != nil {
			t.Error(err)
		}
	})
}

// status is the answer's to a GET of the URL.
func status(t *testing.T, u *kubernetes.User, url string) int {
	t.Helper()
	client, err := u.HTTP()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
