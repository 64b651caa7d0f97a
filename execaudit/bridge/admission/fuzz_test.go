package admission_test

import (
	"encoding/json"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
)

func FuzzReview(f *testing.F) {
	command, _ := signed(f, alice, "sh", "-c", "id")
	update := connect("ephemeralcontainers", alice, pod())
	update.Operation = admissionv1.Update
	update.OldObject.Raw = []byte(`{}`)
	malformed := exec(alice)
	malformed.Object.Raw = []byte(`[]`)
	for _, r := range []*admissionv1.AdmissionRequest{
		exec(alice, "id"), exec(alice, command...), exec(bob, command...), exec(alice, append([]string{"env"}, command...)...),
		exec(alice, "lanyard-exec:"), exec(alice), exec(alice, "\x00\uFFFD"), update, malformed,
		connect("attach", alice, corev1.PodAttachOptions{}), connect("portforward", bob, corev1.PodPortForwardOptions{}),
	} {
		f.Add(review(r))
	}
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"x","uid":"y"}}`))
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"\ud800\u0000"}}`))
	kept := &records{}
	handlers := []http.Handler{admission.Mutating(options(kept)), admission.Validating(options(kept))}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, h := range handlers {
			w := post(h, "/", body)
			if w.Code == http.StatusBadRequest {
				continue
			}
			var asked, got admissionv1.AdmissionReview
			if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
				t.Fatalf("status %d for what is not a review", w.Code)
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got.Response == nil || got.Response.UID != asked.Request.UID {
				t.Fatalf("status %d, %s, %v; want the UID %q", w.Code, w.Body, err, asked.Request.UID)
			}
			if r := got.Response; (r.Patch == nil) != (r.PatchType == nil) || !r.Allowed && (r.Patch != nil || r.Result == nil) {
				t.Fatalf("response %s", w.Body)
			}
		}
		for _, r := range kept.all {
			if r.Session == [16]byte{} || r.Outcome == "" || r.Source == "" {
				t.Fatalf("record %+v", r)
			}
		}
		kept.all = nil
	})
}
