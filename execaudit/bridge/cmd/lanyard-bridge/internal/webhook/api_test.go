package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// api serves lists, watches and single pods as an API server does: enough for informers and live looks. The real one
// runs with the webhook in examples/bridge.
type api struct {
	*httptest.Server

	mu sync.Mutex
	// live are the pods that a GET finds, by namespace and name; listed those that the informers know.
	live map[string]*corev1.Pod
	gets int
	// broken makes GETs of pods fail; held, if not nil, keeps them waiting.
	broken bool
	held   chan struct{}

	pods       []corev1.Pod
	namespaces []corev1.Namespace
	leases     []coordinationv1.Lease
	classes    []nodev1.RuntimeClass

	watching chan watcher
}

// watcher is an open watch of a resource.
type watcher struct {
	resource string
	events   chan<- metav1.WatchEvent
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{live: map[string]*corev1.Pod{}, watching: make(chan watcher, 64)}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(func() {
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

// asked is how often a pod was.
func (a *api) asked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gets
}

// eventually looks until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
		time.Sleep(time.Millisecond) // a poll, not a synchronisation
	}
}

// kubeconfig writes one for the server.
func (a *api) kubeconfig(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
"clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}]}`, a.URL)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	resource := parts[len(parts)-1]
	if len(parts) > 2 && parts[len(parts)-2] == "pods" {
		a.pod(w, parts[len(parts)-3]+"/"+resource)
		return
	}
	if r.URL.Query().Get("watch") != "" {
		a.watch(w, r, resource)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	meta := metav1.ListMeta{ResourceVersion: "1"}
	lists := map[string]any{
		"pods":           corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: meta, Items: a.pods},
		"namespaces":     corev1.NamespaceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}, ListMeta: meta, Items: a.namespaces},
		"leases":         coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "LeaseList"}, ListMeta: meta, Items: a.leases},
		"runtimeclasses": nodev1.RuntimeClassList{TypeMeta: metav1.TypeMeta{APIVersion: "node.k8s.io/v1", Kind: "RuntimeClassList"}, ListMeta: meta, Items: a.classes},
	}
	_ = json.NewEncoder(w).Encode(lists[resource])
}

func (a *api) pod(w http.ResponseWriter, key string) {
	a.mu.Lock()
	held := a.held
	a.gets++
	a.mu.Unlock()
	if held != nil {
		<-held
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	pod := a.live[key]
	switch {
	case a.broken:
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`))
	case pod == nil:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`))
	default:
		_ = json.NewEncoder(w).Encode(pod)
	}
}

// watch sends what the test sends, until the client goes.
func (a *api) watch(w http.ResponseWriter, r *http.Request, resource string) {
	if r.URL.Query().Get("sendInitialEvents") != "" {
		w.WriteHeader(http.StatusUnprocessableEntity) // as an API server without that feature
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`))
		return
	}
	events := make(chan metav1.WatchEvent)
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	a.watching <- watcher{resource, events}
	for {
		select {
		case <-r.Context().Done():
			return
		case event := <-events:
			_ = json.NewEncoder(w).Encode(event)
			w.(http.Flusher).Flush()
		}
	}
}

func watchEvent(t *testing.T, kind string, object runtime.Object) metav1.WatchEvent {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: raw}}
}
