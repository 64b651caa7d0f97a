package admission

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

// MaxReviewBytes bounds a request's body: the API server takes objects of up to 3 MiB, and an update sends two.
const MaxReviewBytes = 8 << 20 // 8 MiB

// DefaultTimeout is how long the handler takes at most to look something up.
const DefaultTimeout = 3 * time.Second

// answerMargin is what is left of the API server's own timeout for the record and the answer.
const answerMargin = 500 * time.Millisecond

// Options are those of a handler.
type Options struct {
	// Lookup is required.
	Lookup Lookup
	// Recorder is required.
	Recorder Recorder
	// Signer returns the keys to sign with; required. It is called for every review.
	Signer func() Signer
	Policy Policy
	// Timeout bounds the lookup of a review; zero is [DefaultTimeout]. The API server's own timeout, which it sends, bounds
	// it as well.
	Timeout time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Observe is told of every answer; nil is nobody.
	Observe func(Observation)
	// Logger is told of records that could not be written; nil is nobody.
	Logger *slog.Logger
}

// Observation is one answer.
type Observation struct {
	// Source is empty for a request that begins no session.
	Source  sessions.Source
	Outcome bridge.Outcome
	Allowed bool
	// Unrecorded says that the session's record could not be written.
	Unrecorded bool
	Elapsed    time.Duration
}

// Mutating returns the handler of the mutating webhook, [bridge.Webhook].
//
// It answers a POST of an AdmissionReview v1 in JSON with one of the same UID. What is not a review is answered with
// status 400, 405, 413 or 415.
func Mutating(o Options) http.Handler { return handler{o.complete(), Decide} }

// Validating returns the handler of the validating webhook, [VerifyWebhook], with the same form.
func Validating(o Options) http.Handler { return handler{o.complete(), Verify} }

func (o Options) complete() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

type handler struct {
	Options
	decide func(Input, Policy, Signer) Decision
}

// ServeHTTP answers one review.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	review, status := readReview(w, r)
	if review == nil {
		http.Error(w, http.StatusText(status), status)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.timeout(r))
	defer cancel()
	response, seen := h.answer(ctx, review.Request)
	// A response of texts, numbers and bytes always encodes.
	body, _ := json.Marshal(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
	seen.Elapsed = time.Since(started)
	h.Observe(seen)
}

// timeout returns how long a lookup may take; the API server sends how long it waits.
func (h handler) timeout(r *http.Request) time.Duration {
	waits, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil {
		return h.Timeout
	}
	return max(min(h.Timeout, waits-answerMargin), 0)
}

// readReview returns the review, or the status that says why there is none.
func readReview(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, int) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, http.StatusMethodNotAllowed
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, http.StatusUnsupportedMediaType
	}
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 && n <= MaxReviewBytes {
		body.Grow(int(n) + bytes.MinRead)
	}
	if _, err := io.Copy(&body, http.MaxBytesReader(w, r.Body, MaxReviewBytes)); err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return nil, http.StatusRequestEntityTooLarge
		}
		return nil, http.StatusBadRequest
	}
	review := new(admissionv1.AdmissionReview)
	if err := json.Unmarshal(body.Bytes(), review); err != nil ||
		review.TypeMeta != (metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}) ||
		review.Request == nil || review.Request.UID == "" {
		return nil, http.StatusBadRequest
	}
	return review, http.StatusOK
}

// answer looks up, decides and records.
func (h handler) answer(ctx context.Context, r *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, Observation) {
	request, err := Read(r)
	in := Input{Request: request, Session: bridge.NewSessionID(), Now: h.Now()}
	_, _ = rand.Read(in.Nonce[:]) // which never fails
	var d Decision
	switch {
	case err != nil:
		d = Decision{Session: in.Session, Record: !request.DryRun}.refused("the request is malformed", err.Error())
	case request.Source == "" || request.Source == sessions.SourceEphemeralContainer:
		d = h.decide(in, h.Policy, h.Signer())
	default:
		in.Known = h.Lookup.Find(ctx, request.Namespace, request.Name, request.Container)
		d = h.decide(in, h.Policy, h.Signer())
	}
	seen := Observation{Source: request.Source}
	if d.Record {
		if err := h.Recorder.Record(recordOf(in, d)); err != nil {
			seen.Unrecorded = true
			h.Logger.Error("the record of a session cannot be written", "session", d.Session, "error", err)
			if h.Policy.Unrecorded != ChoiceAllow && d.Allowed {
				d = d.refused("the session's record cannot be written", "the session's record cannot be written")
			}
		}
	}
	seen.Outcome, seen.Allowed = d.Outcome, d.Allowed
	return d.Response(r.UID), seen
}
