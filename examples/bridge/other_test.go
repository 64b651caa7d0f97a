package bridge_test

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// other is another mutating webhook for execs, such as a product that prefixes commands.
type other struct {
	mu      sync.Mutex
	change  func([]string) []string
	reviews []admissionv1.AdmissionReview
	peers   int // how many requests came with a client certificate
}

func (o *other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var review admissionv1.AdmissionReview
	var options corev1.PodExecOptions
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := json.Unmarshal(review.Request.Object.Raw, &options); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o.reviews = append(o.reviews, review)
	if len(r.TLS.PeerCertificates) > 0 {
		o.peers++
	}
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/command", "value": o.change(options.Command)}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	kind := admissionv1.PatchTypeJSONPatch
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: &kind, AuditAnnotations: map[string]string{"seen": string(review.Request.UID)},
	}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review)
}

// serveOther serves another webhook to a cluster until the test ends; its configuration has the name.
func serveOther(t *testing.T, c *kubernetes.Cluster, name string, change func([]string) []string) *other {
	t.Helper()
	o := &other{change: change}
	pair, err := c.Authority().Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(o)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	if err := c.Expose(server.Listener.Addr().(*net.TCPAddr).Port); err != nil {
		t.Fatal(err)
	}
	none, url := admissionregistration.SideEffectClassNone, server.URL+"/mutate"
	always := admissionregistration.IfNeededReinvocationPolicy
	configurations := c.Client().AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err = configurations.Create(t.Context(), &admissionregistration.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistration.MutatingWebhook{{
			Name: "other.example.io", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, ReinvocationPolicy: &always,
			ClientConfig: admissionregistration.WebhookClientConfig{URL: &url, CABundle: c.Authority().PEM()},
			Rules: []admissionregistration.RuleWithOperations{{
				Operations: []admissionregistration.OperationType{admissionregistration.Connect},
				Rule:       admissionregistration.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/exec"}},
			}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := configurations.Delete(ctxOfCleanup(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return o
}
