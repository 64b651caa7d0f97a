package admission

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// Decision is what the API server is told.
type Decision struct {
	// Allowed says whether the request goes on.
	Allowed bool
	// Message is for the user whose request does not.
	Message string
	// Outcome is what was done, and Reason why, in a few words; the outcome is empty where there is nothing to tell.
	Outcome bridge.Outcome
	Reason  string
	// Session is zero where there is none.
	Session bridge.SessionID
	// Node is the one that a token was signed for, and Expiry the token's; both are empty where none was.
	Node   string
	Expiry time.Time
	// Patch changes the object; nil leaves it.
	Patch []Operation
	// Record says that the session is to be written down before the answer.
	Record bool
	// Target is what was found out of the pod and container, for the record.
	Target Target
	// Command is that of an exec without its token, for the record.
	Command []string
}

// Target is where a session goes.
type Target struct {
	PodUID, Container, Node string
}

// Operation is one of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Response returns the answer to the request with the UID.
func (d Decision) Response(uid types.UID) *admissionv1.AdmissionResponse {
	r := &admissionv1.AdmissionResponse{UID: uid, Allowed: d.Allowed, AuditAnnotations: d.annotations()}
	if !d.Allowed {
		r.Result = &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: d.Message,
		}
		return r
	}
	if len(d.Patch) > 0 {
		// Texts and maps of texts always encode.
		r.Patch, _ = json.Marshal(d.Patch)
		kind := admissionv1.PatchTypeJSONPatch
		r.PatchType = &kind
	}
	return r
}

// annotations returns those of the audit event; the API server puts the webhook's name before each key.
func (d Decision) annotations() map[string]string {
	a := map[string]string{}
	add := func(key, value string) {
		if value != "" {
			a[strings.TrimPrefix(key, bridge.Webhook+"/")] = value
		}
	}
	if d.Session != (bridge.SessionID{}) {
		add(bridge.AuditSession, d.Session.String())
	}
	add(bridge.AuditNode, d.Node)
	if d.Reason == "" {
		add(bridge.AuditOutcome, string(d.Outcome))
	} else {
		add(bridge.AuditOutcome, string(d.Outcome)+": "+d.Reason)
	}
	if len(a) == 0 {
		return nil
	}
	return a
}

// refused is a decision against a request.
func (d Decision) refused(reason, message string) Decision {
	d.Allowed, d.Outcome, d.Reason, d.Message = false, bridge.OutcomeRefused, reason, message
	d.Patch, d.Node, d.Expiry = nil, "", time.Time{}
	return d
}
