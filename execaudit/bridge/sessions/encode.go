package sessions

import (
	"bytes"
	"encoding/json"
	"time"
)

// MaxLineBytes is more than any line that Encode returns. Read takes no longer one.
const MaxLineBytes = 2 << 20 // 2 MiB

type recordWire struct {
	Version    int        `json:"version"`
	Session    string     `json:"session"`
	RequestUID string     `json:"requestUID,omitempty"`
	Time       time.Time  `json:"time"`
	User       userWire   `json:"user"`
	UserCut    bool       `json:"userCut,omitempty"`
	Namespace  string     `json:"namespace,omitempty"`
	Pod        string     `json:"pod,omitempty"`
	PodUID     string     `json:"podUID,omitempty"`
	Container  string     `json:"container,omitempty"`
	Node       string     `json:"node,omitempty"`
	Command    []string   `json:"command,omitempty"`
	CommandCut bool       `json:"commandCut,omitempty"`
	TTY        bool       `json:"tty,omitempty"`
	Source     Source     `json:"source"`
	Outcome    string     `json:"outcome"`
	Reason     string     `json:"reason,omitempty"`
	Expiry     *time.Time `json:"expiry,omitempty"`
}

type userWire struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Encode returns the record as one line of JSON with its line end, at most MaxLineBytes. What is beyond the bounds is
// cut and marked. Bytes that are not UTF-8, which no AdmissionReview can hold, become U+FFFD. Its error is a *Fault of
// ErrRecord for a field that is required and missing, or a time outside of the years 0 to 9999.
func Encode(r Record) ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	r = r.bounded()
	wire := recordWire{
		Version: Version, Session: r.Session.String(), RequestUID: r.RequestUID, Time: r.Time,
		User: userWire(r.User), UserCut: r.UserCut,
		Namespace: r.Namespace, Pod: r.Pod, PodUID: r.PodUID, Container: r.Container, Node: r.Node,
		Command: r.Command, CommandCut: r.CommandCut, TTY: r.TTY,
		Source: r.Source, Outcome: string(r.Outcome), Reason: r.Reason,
	}
	if !r.Expiry.IsZero() {
		wire.Expiry = &r.Expiry
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(wire); err != nil {
		return nil, &Fault{Err: ErrRecord, Rule: "does not fit into JSON"}
	}
	return line.Bytes(), nil
}

// validate returns the first rule that the record breaks.
func (r *Record) validate() error {
	for _, field := range []struct {
		key     string
		missing bool
	}{
		{"session", r.Session == [16]byte{}},
		{"time", r.Time.IsZero()},
		{"source", r.Source == ""},
		{"outcome", r.Outcome == ""},
	} {
		if field.missing {
			return &Fault{Err: ErrRecord, Field: field.key, Rule: "is missing"}
		}
	}
	if year := r.Time.UTC().Year(); year < 0 || year > 9999 {
		return &Fault{Err: ErrRecord, Field: "time", Rule: "is outside of the years 0 to 9999"}
	}
	if year := r.Expiry.UTC().Year(); year < 0 || year > 9999 {
		return &Fault{Err: ErrRecord, Field: "expiry", Rule: "is outside of the years 0 to 9999"}
	}
	return nil
}
