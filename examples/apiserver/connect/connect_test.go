package connect_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/apiserver/connect"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
	"github.com/lanyard-dev/lanyard/execaudit"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// results counts what was injected.
type results []execapi.Result

func (r *results) AuditIDInjected(result execapi.Result) { *r = append(*r, result) }

// fixture is a registry with one pod on a node whose kubelet remembers what it is asked and refuses.
type fixture struct {
	registry *registry.Registry
	kubelets *connect.Kubelets
	asked    chan *url.URL
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{asked: make(chan *url.URL, 1)}
	kubelet := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked <- r.URL
		http.Error(w, "not today", http.StatusTeapot)
	}))
	t.Cleanup(kubelet.Close)
	var err error
	if f.registry, err = registry.New(kinds.New(true), memory.New(memory.Options{}), admission.Component{}); err != nil {
		t.Fatal(err)
	}
	address, _ := url.Parse(kubelet.URL)
	port, _ := strconv.Atoi(address.Port())
	f.create(t, f.registry.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: address.Hostname()}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}},
	}})
	f.create(t, f.registry.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, Spec: corev1.PodSpec{
		NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}})
	f.kubelets = connect.NewKubelets(f.registry.Nodes, &tls.Config{InsecureSkipVerify: true}) // a test server's certificate
	return f
}

func (f *fixture) create(t *testing.T, store *registry.Store, object runtime.Object) {
	t.Helper()
	if _, err := store.Create(inDefault(), object, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func inDefault() context.Context { return request.WithNamespace(context.Background(), "default") }

// TestPlaceholder connects without an audit context, as a server would whose auditing were off altogether.
func TestPlaceholder(t *testing.T) {
	f := newFixture(t)
	var counted results
	exec := &connect.Exec{
		Pods: connect.Pods{Store: f.registry.Pods, Kubelets: f.kubelets},
		Env:  execapi.Exec{Gates: execaudit.Gates{ExecEnvVar: true, ExecRequestID: true}, Recorder: &counted},
	}
	t.Run("EXA-11 EXA-13 no audit context gives the placeholder and counts it", func(t *testing.T) {
		handler, err := exec.Connect(inDefault(), "p", &kinds.PodExecOptions{Stdout: true, Command: []string{"env"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(handler)
		defer front.Close()
		location, _ := url.Parse(front.URL)
		client, err := remotecommand.NewSPDYExecutor(&clientrest.Config{Host: front.URL}, "POST", location)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: httptest.NewRecorder()}); err == nil {
			t.Error("a session that the kubelet refused succeeded")
		}
		if got := (<-f.asked).Query()["env"]; !slices.Equal(got, []string{"KUBERNETES_EXEC_AUDIT_ID=unknown"}) {
			t.Errorf("env = %q", got)
		}
		if !slices.Equal(counted, results{execapi.ResultPlaceholder}) {
			t.Errorf("counted %v", counted)
		}
	})
}
