package apiserver_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/gates"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logged.logger())
	os.Exit(m.Run())
}

// cluster is a running server with a stub kubelet behind it: node n1 with the pods web (containers app and side) and
// one (container main), in the namespace default.
type cluster struct {
	*apiserver.Server
	options apiserver.Options
	ca      *ca.Authority
	kubelet *stubKubelet
	audit   string
	stop    context.CancelFunc
	stopped chan error
}

const tokenFile = "admin-token,admin,u-admin,\"system:masters\"\nalice-token,alice,u-alice,\"dev,ops\"\nbob-token,bob,u-bob,\"dev\"\n"

// start runs a server with both exec gates on; change may alter its options before.
func start(t testing.TB, change func(*apiserver.Options)) *cluster {
	t.Helper()
	c := &cluster{stopped: make(chan error, 1)}
	c.prepare(t)
	if change != nil {
		change(&c.options)
	}
	c.Server = must(apiserver.New(c.options))(t)
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	go func() { c.stopped <- c.Run(ctx) }()
	t.Cleanup(func() { c.shutdown(t) })
	c.ready(t)
	return c
}

// prepare makes everything but the server.
func (c *cluster) prepare(t testing.TB) {
	t.Helper()
	c.ca = must(ca.New("test"))(t)
	c.kubelet = newStubKubelet(t, c.ca)
	c.options = c.baseOptions(t)
}

func (c *cluster) baseOptions(t testing.TB) apiserver.Options {
	t.Helper()
	dir := t.TempDir()
	c.audit = filepath.Join(dir, "audit.log")
	return apiserver.Options{
		Serving:       must(c.ca.Server("127.0.0.1"))(t),
		ClientCA:      c.ca.PEM(),
		KubeletClient: must(c.ca.Client("kube-apiserver", "system:apiserver"))(t),
		KubeletCA:     c.ca.PEM(),
		TokenFile:     write(t, filepath.Join(dir, "tokens.csv"), tokenFile),
		Gates:         gateSet(t, gates.MaxMinor, "ExecEnvVar=true,ExecRequestID=true"),
		Audit:         auditOptions(t, dir, c.audit),
		Objects:       c.kubelet.objects(),
	}
}

func auditOptions(t testing.TB, dir, log string) *genericoptions.AuditOptions {
	t.Helper()
	o := genericoptions.NewAuditOptions()
	o.PolicyFile = write(t, filepath.Join(dir, "policy.yaml"), `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, nonResourceURLs: ["/readyz*"]}
- {level: Metadata}
`)
	o.LogOptions.Path = log
	return o
}

// shutdown stops the server and waits for its end.
func (c *cluster) shutdown(t testing.TB) {
	t.Helper()
	c.stop()
	select {
	case err := <-c.stopped:
		c.stopped <- err
		if err != nil {
			t.Errorf("Run = %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the server did not stop")
	}
}

// ready waits until the server says so, then plays the kubelet that started the pods.
func (c *cluster) ready(t testing.TB) {
	t.Helper()
	client := c.client(t, c.token("admin-token"))
	eventually(t, "readyz", func() bool {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(context.Background()).Error() == nil
	})
	for _, name := range []string{"web", "one"} {
		running := []byte(`{"status":{"phase":"Running"}}`)
		_, err := client.CoreV1().Pods("default").Patch(context.Background(), name, types.MergePatchType, running, metav1.PatchOptions{}, "status")
		if err != nil {
			t.Fatal(err)
		}
	}
}

// token returns the configuration of a client with a bearer token.
func (c *cluster) token(token string) *rest.Config {
	return &rest.Config{Host: c.URL(), BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.PEM()}, QPS: -1}
}

func (c *cluster) admin() *rest.Config { return c.token("admin-token") }

// certificate returns the configuration of a client with a certificate.
func (c *cluster) certificate(t testing.TB, user string, groups ...string) *rest.Config {
	t.Helper()
	pair := must(c.ca.Client(user, groups...))(t)
	return &rest.Config{Host: c.URL(), QPS: -1, TLSClientConfig: rest.TLSClientConfig{
		CAData: c.ca.PEM(), CertData: pair.Cert, KeyData: pair.Key,
	}}
}

func (c *cluster) client(t testing.TB, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	return must(kubernetes.NewForConfig(config))(t)
}

// objects are the node and the pods that the stub serves.
func (k *stubKubelet) objects() []runtime.Object {
	host, port := k.address()
	return []runtime.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: port}},
			Conditions:      []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			NodeInfo:        corev1.NodeSystemInfo{KubeletVersion: "v1.37.2"},
		}},
		pod("web", "n1", "app", "side"),
		pod("one", "n1", "main"),
	}
}

func pod(name, node string, containers ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: corev1.PodSpec{NodeName: node}}
	for _, c := range containers {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: c, Image: "example.com/" + c})
	}
	return p
}

// must returns a function that ends the test when there was an error.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// eventually polls a condition; it ends the test after ten seconds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after ten seconds", what)
		}
		time.Sleep(10 * time.Millisecond) // a poll, not a synchronisation
	}
}

func splitAddress(t testing.TB, address string) (string, int32) {
	t.Helper()
	tcp := must(net.ResolveTCPAddr("tcp", address))(t)
	return tcp.IP.String(), int32(tcp.Port)
}
