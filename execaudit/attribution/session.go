package attribution

import "time"

// Placeholder is the audit ID of a session whose API server had none
// (KEP-6035, Audit ID Propagation).
const Placeholder = "unknown"

// User is a Kubernetes user as an audit event has it.
type User struct {
	Name   string              `json:"username,omitempty"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Stage is how far an audit event has come. A later stage knows more.
type Stage uint8

// The stages of an audit event, in order.
const (
	StageRequestReceived Stage = iota
	StageResponseStarted
	StageResponseComplete
	StagePanic
)

// Audit is one audit event of an exec request at one stage.
type Audit struct {
	AuditID string
	Stage   Stage
	User    User
	// Impersonated is whom User acts as; nil for nobody. The first stage does not have it.
	Impersonated *User
	SourceIPs    []string
	UserAgent    string
	// Namespace, Pod and Container say where; Container is empty when the caller left it to the default.
	Namespace, Pod, Container string
	// Command is the command line that was asked for.
	Command []string
	// Code is the HTTP status, 0 before there is one.
	Code int
	// Received is when the request came; the same in all stages of one.
	Received time.Time
	// At is when this stage was reached.
	At time.Time
	// RequestUID is the admission review's UID that the Security Profiles Operator wrote down.
	RequestUID string
}

// Session is one exec request: the stages of its audit event merged.
type Session struct {
	AuditID      string    `json:"auditID"`
	User         User      `json:"user"`
	Impersonated *User     `json:"impersonatedUser,omitempty"`
	SourceIPs    []string  `json:"sourceIPs,omitempty"`
	UserAgent    string    `json:"userAgent,omitempty"`
	Namespace    string    `json:"namespace,omitempty"`
	Pod          string    `json:"pod,omitempty"`
	Container    string    `json:"container,omitempty"`
	Command      []string  `json:"command,omitempty"`
	Code         int       `json:"code,omitempty"`
	Received     time.Time `json:"received"`
	// Started and Completed are zero when the stage was not seen.
	Started   time.Time `json:"started,omitzero"`
	Completed time.Time `json:"completed,omitzero"`

	stage Stage
}

// Actor returns the user as whom the request was carried out: the impersonated
// one when there is one.
func (s *Session) Actor() *User {
	if s.Impersonated != nil {
		return s.Impersonated
	}
	return &s.User
}

// Refused reports whether the API server or the kubelet refused the request, so that no process came of it.
func (s *Session) Refused() bool {
	return s.Code >= 400
}

// sameRequest tells the stages of one request from a reuse of its audit ID.
func (s *Session) sameRequest(a *Audit) bool {
	return s.Received.Equal(a.Received) && s.User.Name == a.User.Name && s.Namespace == a.Namespace && s.Pod == a.Pod
}

func newSession(a *Audit) *Session {
	s := &Session{AuditID: a.AuditID}
	s.fill(a)
	return s
}

// merge takes a stage in. The latest stage counts, whatever the order they come in.
func (s *Session) merge(a *Audit) {
	if a.Stage >= s.stage {
		s.fill(a)
	}
	switch {
	case a.Stage == StageResponseStarted:
		s.Started = a.At
	case a.Stage >= StageResponseComplete:
		s.Completed = a.At
	}
}

func (s *Session) fill(a *Audit) {
	s.stage, s.User, s.Impersonated, s.SourceIPs, s.UserAgent = a.Stage, a.User, a.Impersonated, a.SourceIPs, a.UserAgent
	s.Namespace, s.Pod, s.Container, s.Command = a.Namespace, a.Pod, a.Container, a.Command
	s.Code, s.Received = a.Code, a.Received
}

func (s *Session) bytes() int {
	n := sessionBytes + len(s.AuditID) + len(s.UserAgent) + len(s.Namespace) + len(s.Pod) + len(s.User.Name) + len(s.User.UID)
	for _, list := range [][]string{s.SourceIPs, s.Command, s.User.Groups} {
		for _, text := range list {
			n += 16 + len(text)
		}
	}
	for key, values := range s.User.Extra {
		n += 48 + len(key)
		for _, v := range values {
			n += 16 + len(v)
		}
	}
	return n
}

// AuditIDName is the environment variable that carries the audit ID (KEP-6035, Proposal).
const AuditIDName = "KUBERNETES_EXEC_AUDIT_ID"
