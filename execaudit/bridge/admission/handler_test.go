package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

// lookup knows one pod.
type lookup func(ctx context.Context, container string) admission.Known

func (l lookup) Find(ctx context.Context, namespace, pod, container string) admission.Known {
	if namespace != "shop" || pod != "cart" {
		return admission.Known{}
	}
	return l(ctx, container)
}

// records keeps what is recorded.
type records struct {
	mu   sync.Mutex
	all  []sessions.Record
	fail error
}

func (r *records) Record(record sessions.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	_, err := sessions.Encode(record)
	r.all = append(r.all, record)
	return err
}

func options(kept *records) admission.Options {
	return admission.Options{
		Lookup:   lookup(func(context.Context, string) admission.Known { return known() }),
		Recorder: kept, Signer: func() admission.Signer { return signer }, Now: func() time.Time { return now },
	}
}

func review(r *admissionv1.AdmissionRequest) []byte {
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: r,
	})
	if err != nil {
		panic(err)
	}
	return body
}

func post(h http.Handler, target string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answer posts the request and returns the response.
func answer(t *testing.T, h http.Handler, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	w := post(h, "/", review(r))
	var got admissionv1.AdmissionReview
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, %s, %v", w.Code, w.Body, err)
	}
	if got.APIVersion != "admission.k8s.io/v1" || got.Kind != "AdmissionReview" || got.Request != nil || got.Response.UID != r.UID {
		t.Fatalf("review %s", w.Body)
	}
	return got.Response
}

func TestHandler(t *testing.T) {
	t.Run("BRG-12 an exec is recorded before it is answered", func(t *testing.T) {
		kept := &records{}
		var seen admission.Observation
		o := options(kept)
		o.Observe = func(o admission.Observation) { seen = o }
		response := answer(t, admission.Mutating(o), exec(alice, "sh", "-c", "id"))
		if !response.Allowed || response.AuditAnnotations["outcome"] != "marked" || len(kept.all) != 1 {
			t.Fatalf("%+v, records %v", response, kept.all)
		}
		r := kept.all[0]
		if r.Session.String() != response.AuditAnnotations["session"] || r.User.Name != "alice" || r.User.Extra["scopes"][0] != "x" ||
			strings.Join(r.Command, " ") != "sh -c id" || r.Source != sessions.SourceExec || r.Outcome != bridge.OutcomeMarked ||
			r.Container != "app" || r.Node != "n1" || r.PodUID != string(pod().UID) || r.RequestUID != string(exec(alice).UID) ||
			!r.Expiry.Equal(now.Truncate(time.Second).Add(time.Minute)) || !r.Time.Equal(now) {
			t.Fatalf("record %+v", r)
		}
		if seen.Source != sessions.SourceExec || seen.Outcome != bridge.OutcomeMarked || !seen.Allowed || seen.Unrecorded {
			t.Fatalf("observed %+v", seen)
		}
	})
	t.Run("BRG-12 two sessions never have the same ID", func(t *testing.T) {
		kept := &records{}
		h := admission.Mutating(options(kept))
		answer(t, h, exec(alice, "id"))
		answer(t, h, exec(alice, "id"))
		if kept.all[0].Session == kept.all[1].Session {
			t.Fatalf("session %s twice", kept.all[0].Session)
		}
	})
	t.Run("BRG-12 a second call for one request writes no second record", func(t *testing.T) {
		kept := &records{}
		h := admission.Mutating(options(kept))
		var patch []admission.Operation
		first := answer(t, h, exec(alice, "id"))
		if err := json.Unmarshal(first.Patch, &patch); err != nil {
			t.Fatal(err)
		}
		r := exec(alice, patch[0].Value.(string), "id")
		r.UID = "another"
		if second := answer(t, h, r); !second.Allowed || second.Patch != nil || len(kept.all) != 1 {
			t.Fatalf("%+v, records %v", second, kept.all)
		}
		if third := answer(t, admission.Validating(options(kept)), r); !third.Allowed || third.AuditAnnotations != nil || len(kept.all) != 1 {
			t.Fatalf("%+v, records %v", third, kept.all)
		}
	})
	t.Run("BRG-4 a refusal is recorded", func(t *testing.T) {
		kept := &records{}
		for _, h := range []http.Handler{admission.Mutating(options(kept)), admission.Validating(options(kept))} {
			response := answer(t, h, exec(alice, "lanyard-exec:1:x"))
			if response.Allowed || response.Result.Code != http.StatusForbidden || !strings.HasPrefix(response.AuditAnnotations["outcome"], "refused: ") {
				t.Fatalf("%+v", response)
			}
		}
		if len(kept.all) != 2 || kept.all[0].Outcome != bridge.OutcomeRefused || kept.all[1].Outcome != bridge.OutcomeRefused {
			t.Fatalf("records %+v", kept.all)
		}
		if got := kept.all[0].Command[0]; got != "lanyard-exec:[redacted]" {
			t.Fatalf("the record has %q, want nothing that could be a token", got)
		}
	})
	t.Run("BRG-6 a record that cannot be written refuses the session, or not, as configured", func(t *testing.T) {
		kept := &records{fail: errors.New("no space left on device")}
		o := options(kept)
		var seen admission.Observation
		o.Observe = func(o admission.Observation) { seen = o }
		response := answer(t, admission.Mutating(o), exec(alice, "id"))
		if response.Allowed || response.Patch != nil || response.AuditAnnotations["outcome"] != "refused: the session's record cannot be written" ||
			response.AuditAnnotations["node"] != "" || !seen.Unrecorded {
			t.Fatalf("%+v", response)
		}
		o.Policy.Unrecorded = admission.ChoiceAllow
		response = answer(t, admission.Mutating(o), exec(alice, "id"))
		if !response.Allowed || response.Patch == nil || response.AuditAnnotations["outcome"] != "marked" || !seen.Unrecorded {
			t.Fatalf("%+v", response)
		}
		if strings.Contains(response.String(), "no space") {
			t.Fatal("the answer tells the webhook's disk")
		}
	})
	t.Run("BRG-6 a lookup is bounded by the API server's patience", func(t *testing.T) {
		kept := &records{}
		o := options(kept)
		o.Timeout = time.Hour
		o.Lookup = lookup(func(ctx context.Context, _ string) admission.Known {
			deadline, ok := ctx.Deadline()
			if left := time.Until(deadline); !ok || left > 1500*time.Millisecond {
				t.Errorf("the lookup has %v, %v; want 1.5 s", left, ok)
			}
			return admission.Known{Problem: "the pod could not be looked up"}
		})
		w := post(admission.Mutating(o), "/mutate?timeout=2s", review(exec(alice, "id")))
		if !strings.Contains(w.Body.String(), "unmarked: the pod could not be looked up") {
			t.Fatalf("%s", w.Body)
		}
	})
	t.Run("BRG-6 an object that cannot be decoded is refused", func(t *testing.T) {
		kept := &records{}
		r := exec(alice)
		r.Object.Raw = []byte(`[]`)
		if response := answer(t, admission.Mutating(options(kept)), r); response.Allowed || len(kept.all) != 1 {
			t.Fatalf("%+v", response)
		}
	})
}

func TestNotAReview(t *testing.T) {
	h := admission.Mutating(options(&records{}))
	good := string(review(exec(alice, "id")))
	for _, test := range []struct {
		name, method, kind, body string
		status                   int
	}{
		{"a GET", http.MethodGet, "application/json", good, http.StatusMethodNotAllowed},
		{"no content type", http.MethodPost, "", good, http.StatusUnsupportedMediaType},
		{"another content type", http.MethodPost, "application/vnd.kubernetes.protobuf", good, http.StatusUnsupportedMediaType},
		{"no body", http.MethodPost, "application/json", "", http.StatusBadRequest},
		{"no JSON", http.MethodPost, "application/json", "{", http.StatusBadRequest},
		{"another version", http.MethodPost, "application/json", strings.Replace(good, "admission.k8s.io/v1", "admission.k8s.io/v1beta1", 1), http.StatusBadRequest},
		{"another kind", http.MethodPost, "application/json", strings.Replace(good, "AdmissionReview", "Pod", 1), http.StatusBadRequest},
		{"no request", http.MethodPost, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, http.StatusBadRequest},
		{"no UID", http.MethodPost, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}`, http.StatusBadRequest},
		{"too large", http.MethodPost, "application/json", good + strings.Repeat(" ", admission.MaxReviewBytes), http.StatusRequestEntityTooLarge},
	} {
		t.Run("BRG-6 not a review: "+test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, "/", strings.NewReader(test.body))
			if test.kind != "" {
				r.Header.Set("Content-Type", test.kind)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != test.status {
				t.Fatalf("status %d, want %d", w.Code, test.status)
			}
		})
	}
	t.Run("BRG-6 a body that breaks off", func(t *testing.T) {
		r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader(good[:20]), broken{}))
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest {
			t.Fatalf("status %d", w.Code)
		}
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
