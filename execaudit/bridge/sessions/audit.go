package sessions

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// MaxAuditBytes is the longest line of an audit log that ReadAudits takes.
const MaxAuditBytes = 16 << 20 // 16 MiB

// Audit is what the join takes of an audit event.
type Audit struct {
	// Session is the value of the annotation bridge.AuditSession.
	Session bridge.SessionID
	// AuditID is the API server's ID of the request; all stages of a request have the same.
	AuditID string
	// Stage is the event's, such as "ResponseStarted".
	Stage string
	// Time is when the request was received.
	Time time.Time
	// User made the request: where somebody is impersonated, that one, as in the webhook's record.
	User token.User
	// By is the name of who impersonated User; else empty.
	By string
	// Namespace and Pod are the object's names.
	Namespace, Pod string
	// Node is the one that a token was signed for, from the annotation bridge.AuditNode; empty where none was.
	Node string
	// Outcome is what the webhook said that it did, from the annotation bridge.AuditOutcome without its reason.
	Outcome bridge.Outcome
}

// ReadAudits returns the events of a file of audit events that have the annotation bridge.AuditSession, in its order. A
// line is an Event or an EventList of audit.k8s.io/v1. A pair with an error has the zero Audit: a *LineError for a line
// that cannot be used, and the next pair is of what follows it; or what r returns, as the last pair. Lines without the
// annotation's text are passed over without a look. name is for errors.
func ReadAudits(r io.Reader, name string) iter.Seq2[Audit, error] {
	return func(yield func(Audit, error) bool) {
		for line := range readLines(r, name, MaxAuditBytes) {
			if line.err != nil {
				if !yield(Audit{}, line.err) {
					return
				}
				continue
			}
			audits, err := DecodeAudits(line.text)
			for _, a := range audits {
				if !yield(a, nil) {
					return
				}
			}
			if err != nil && !yield(Audit{}, &LineError{Name: name, Line: line.number, Err: err}) {
				return
			}
		}
	}
}

// DecodeAudits returns the events with the annotation of one Event or EventList, such as the body of a request by the
// API server's audit webhook, in its order. A text without the annotation's text gives none. Its error is a *Fault of
// ErrAudit, of the first event that has the annotation and cannot be used; the others are returned all the same.
func DecodeAudits(text []byte) ([]Audit, error) {
	if !mentioned(text) {
		return nil, nil
	}
	all, err := members(text)
	if err != nil {
		return nil, &Fault{Err: ErrAudit, Rule: err.Error()}
	}
	var items []json.RawMessage
	if _, list := all["items"]; !list {
		a, ok, err := audit(all)
		if err != nil || !ok {
			return nil, err
		}
		return []Audit{a}, nil
	}
	if !into(all, "items", &items) {
		return nil, &Fault{Err: ErrAudit, Field: "items", Rule: "is not a list"}
	}
	var audits []Audit
	var first error
	for _, item := range items {
		if !mentioned(item) {
			continue
		}
		all, err := members(item)
		if err != nil {
			err = &Fault{Err: ErrAudit, Field: "items", Rule: err.Error()}
		}
		a, ok := Audit{}, false
		if err == nil {
			a, ok, err = audit(all)
		}
		if ok && err == nil {
			audits = append(audits, a)
		}
		if first == nil {
			first = err
		}
	}
	return audits, first
}

// mentioned reports whether a text has the annotation's key, of which the slash may be escaped.
func mentioned(text []byte) bool {
	return bytes.Contains(text, []byte(bridge.AuditSession)) || bytes.Contains(text, escapedKey)
}

var escapedKey = []byte(strings.Replace(bridge.AuditSession, "/", `\/`, 1))

// audit returns the event, or false for one without the annotation.
func audit(all map[string]json.RawMessage) (Audit, bool, error) {
	annotations := map[string]json.RawMessage{}
	if raw := all["annotations"]; raw != nil && string(raw) != "null" {
		var err error
		if annotations, err = members(raw); err != nil {
			return Audit{}, false, &Fault{Err: ErrAudit, Field: "annotations", Rule: err.Error()}
		}
	}
	raw, ok := annotations[bridge.AuditSession]
	if !ok {
		return Audit{}, false, nil
	}
	var session, outcome string
	a := Audit{}
	if json.Unmarshal(raw, &session) != nil {
		return Audit{}, false, &Fault{Err: ErrAudit, Field: bridge.AuditSession, Rule: "is not a text"}
	}
	var err error
	if a.Session, err = bridge.ParseSessionID(session); err != nil || a.Session == (bridge.SessionID{}) {
		return Audit{}, false, &Fault{Err: ErrAudit, Field: bridge.AuditSession, Rule: "is not a session ID"}
	}
	if !into(annotations, bridge.AuditOutcome, &outcome) {
		return Audit{}, false, &Fault{Err: ErrAudit, Field: bridge.AuditOutcome, Rule: "is not a text"}
	}
	if !into(annotations, bridge.AuditNode, &a.Node) {
		return Audit{}, false, &Fault{Err: ErrAudit, Field: bridge.AuditNode, Rule: "is not a text"}
	}
	a.Node = cut(a.Node)
	outcome, _, _ = strings.Cut(outcome, ":")
	a.Outcome = bridge.Outcome(cut(outcome))
	if err := a.read(all); err != nil {
		return Audit{}, false, err
	}
	return a, true, nil
}

// read reads what stands outside of the annotations.
func (a *Audit) read(all map[string]json.RawMessage) error {
	for _, field := range []struct {
		key   string
		value any
	}{
		{"auditID", &a.AuditID}, {"stage", &a.Stage}, {"requestReceivedTimestamp", &a.Time},
	} {
		if !into(all, field.key, field.value) {
			return &Fault{Err: ErrAudit, Field: field.key, Rule: "is of another type"}
		}
	}
	if a.AuditID == "" {
		return &Fault{Err: ErrAudit, Field: "auditID", Rule: "is missing"}
	}
	if a.Time.IsZero() {
		return &Fault{Err: ErrAudit, Field: "requestReceivedTimestamp", Rule: "is missing"}
	}
	user, ok := decodeUser(all["user"], "username")
	if !ok || user.Name == "" {
		return &Fault{Err: ErrAudit, Field: "user", Rule: "is missing or of another type"}
	}
	other, ok := decodeUser(all["impersonatedUser"], "username")
	if !ok {
		return &Fault{Err: ErrAudit, Field: "impersonatedUser", Rule: "is of another type"}
	}
	if raw := all["impersonatedUser"]; raw != nil && string(raw) != "null" {
		if other.Name == "" {
			return &Fault{Err: ErrAudit, Field: "impersonatedUser", Rule: "has no name"}
		}
		user, a.By = other, user.Name
	}
	a.User, _ = boundedUser(user)
	a.By, a.AuditID, a.Stage = cut(a.By), cut(a.AuditID), cut(a.Stage)
	a.Time = a.Time.UTC()
	if raw := all["objectRef"]; raw != nil && string(raw) != "null" {
		ref, err := members(raw)
		if err != nil || !into(ref, "namespace", &a.Namespace) || !into(ref, "name", &a.Pod) {
			return &Fault{Err: ErrAudit, Field: "objectRef", Rule: "is of another type"}
		}
	}
	a.Namespace, a.Pod = cut(a.Namespace), cut(a.Pod)
	return nil
}
