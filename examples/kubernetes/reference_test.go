package kubernetes_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/execaudit"
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
	t.Run("STK-13 the reference kubelet asks the real API server who somebody is and who may do what", func(t *testing.T) {
		nobody, err := c.Certificate("nobody")
		if err != nil {
			t.Fatal(err)
		}
		account, err := c.ServiceAccount(t.Context(), "default", "default")
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := c.User("stranger", &clientcmdapi.AuthInfo{Token: "of nobody"})
		if err != nil {
			t.Fatal(err)
		}
		for user, want := range map[*kubernetes.User]int{
			c.Admin(): http.StatusOK, nobody: http.StatusForbidden, account: http.StatusForbidden, stranger: http.StatusUnauthorized,
		} {
			if got := status(t, user, c.Node("").URL()+"/pods"); got != want {
				t.Errorf("%s: GET /pods of the kubelet: %d, want %d", user.Name, got, want)
			}
		}
	})
	t.Run("STK-13 the reference kubelet keeps no lease: its node's status is its heartbeat", func(t *testing.T) {
		_, err := c.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), kubernetes.DefaultNode, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("lease: %v, want none", err)
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
	c := kubernetes.Own(t, kubernetes.Options{Reference: true, APIServer: func(c *kubernetes.Command) {
		c.Set("feature-gates", "ExecEnvVar=true,ExecRequestID=true")
	}})
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
	pod := run(t, c, tokenPod(t, c))
	t.Run("STK-13 STK-4 the real kubelet runs a pod, with a config map and a token", func(t *testing.T) {
		if pod.Status.Phase != corev1.PodRunning {
			t.Fatalf("phase %s, want Running: %s", pod.Status.Phase, pod.Status.Message)
		}
		if got, err := c.Admin().Kubectl(t.Context(), "exec", pod.Name, "--", "/reporter", "read", "/given/motto"); err != nil || got.Stdout != "hold on" {
			t.Errorf("the config map's file: %+v, %v", got, err)
		}
		got, err := c.Admin().Kubectl(t.Context(), "exec", pod.Name, "--", "/reporter", "read", "/given/token")
		if err != nil || got.Code != 0 {
			t.Fatalf("the token's file: %+v, %v", got, err)
		}
		account, err := c.User("account", &clientcmdapi.AuthInfo{Token: got.Stdout})
		if err != nil {
			t.Fatal(err)
		}
		client, err := account.Client()
		if err != nil {
			t.Fatal(err)
		}
		who, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil || who.Status.UserInfo.Username != "system:serviceaccount:default:default" {
			t.Errorf("the token is of %+v, %v", who, err)
		}
	})
	t.Run("STK-13 STK-4 the real kubelet's log, events, lease and node status arrive", func(t *testing.T) {
		if got, err := c.Admin().Kubectl(t.Context(), "logs", pod.Name); err != nil || got.Code != 0 {
			t.Errorf("Kubectl(logs) = %+v, %v", got, err)
		}
		if got, err := c.Admin().Kubectl(t.Context(), "get", "events", "--field-selector=reason=Started,involvedObject.name="+pod.Name, "-o=name"); err != nil || got.Stdout == "" {
			t.Errorf("Kubectl(get events) = %+v, %v", got, err)
		}
		for _, made := range []func(context.Context) error{
			func(ctx context.Context) error {
				_, err := c.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, kubernetes.DefaultNode, metav1.GetOptions{})
				return err
			},
			func(ctx context.Context) error {
				_, err := c.Client().StorageV1().CSINodes().Get(ctx, kubernetes.DefaultNode, metav1.GetOptions{})
				return err
			},
		} {
			if err := kubernetes.Await(t.Context(), "what the kubelet makes", func(ctx context.Context) (bool, error) {
				err := made(ctx)
				return err == nil, err
			}); err != nil {
				t.Error(err)
			}
		}
		node, err := c.Client().CoreV1().Nodes().Get(t.Context(), kubernetes.DefaultNode, metav1.GetOptions{})
		if err != nil || node.Status.NodeInfo.KubeletVersion != "v1.37.1" {
			t.Errorf("node %+v, %v", node.Status.NodeInfo, err)
		}
	})
	t.Run("STK-13 EXA-21 with the gates on, a session on the real kubelet works, and carries nothing", func(t *testing.T) {
		for _, websockets := range []string{"true", "false"} {
			t.Setenv("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", websockets)
			got, err := c.Admin().Kubectl(t.Context(), "exec", pod.Name, "--", "/reporter")
			if err != nil || got.Code != 0 {
				t.Fatalf("Kubectl(…) = %+v, %v", got, err)
			}
			if id, ok := reported(t, got.Stdout).Get(execaudit.AuditIDName); ok {
				t.Errorf("the session carries %q", id)
			}
		}
	})
	t.Run("STK-13 a pod that is deleted ends on the real kubelet", func(t *testing.T) {
		if err := c.Remove(t.Context(), pod); err != nil {
			t.Error(err)
		}
	})
}

// tokenPod has a projected volume of a config map and a token at /given, which the reference API server adds to no pod.
func tokenPod(t *testing.T, c *kubernetes.Cluster) *corev1.Pod {
	t.Helper()
	motto := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "motto"}, Data: map[string]string{"motto": "hold on"}}
	if _, err := c.Client().CoreV1().ConfigMaps("default").Create(t.Context(), motto, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	given := corev1.Volume{Name: "given", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: motto.Name}}},
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
	}}}}
	return &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{given}, Containers: []corev1.Container{
		{VolumeMounts: []corev1.VolumeMount{{Name: given.Name, MountPath: "/given"}}},
	}}}
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
