package attribution

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// placeholder is the audit ID of a session whose API server had none
// (KEP-6035, Audit ID Propagation).
const placeholder = "unknown"

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
	// Impersonated is whom User acts as; nil when nobody is impersonated. The first stage does not have it.
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
	// ExecSession is the ID that a bridge's webhook gave the session and wrote down.
	ExecSession string
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
	// ExecSession is the ID that a bridge's webhook gave it; empty for none.
	ExecSession string `json:"execSession,omitempty"`

	stage Stage
	// changes counts how often a stage told something else of the request than one before it.
	changes int
}

// Actor returns the user as whom the request was carried out: the impersonated
// one when there is one.
func (s *Session) Actor() *User {
	if s.Impersonated != nil {
		return s.Impersonated
	}
	return &s.User
}

// nameless reports whether one of those who asked has no name: an audit event without a name is not evidence for a
// user.
func (s *Session) nameless() bool {
	return s.User.Name == "" || s.Actor().Name == ""
}

// switchingProtocols is the HTTP status of a request that became a session.
const switchingProtocols = 101

// Refused reports whether the request was answered and did not become a session, so that no process came of it: it was
// refused, or never upgraded. A panic of the API server, whatever its code, may have come after the upgrade.
func (s *Session) Refused() bool {
	return s.Code != 0 && s.Code != switchingProtocols && s.stage != StagePanic
}

// same reports whether two sessions are of one request and the same people; both may be nil.
func (s *Session) same(o *Session) bool {
	if s == nil || o == nil || s == o {
		return s == o
	}
	return s.AuditID == o.AuditID && s.ExecSession == o.ExecSession && s.Received.Equal(o.Received) && s.Refused() == o.Refused() &&
		s.Namespace == o.Namespace && s.Pod == o.Pod && s.Container == o.Container &&
		s.User.equal(&o.User) && s.Actor().equal(o.Actor())
}

func (u *User) equal(o *User) bool {
	return u.Name == o.Name && u.UID == o.UID && slices.Equal(u.Groups, o.Groups) &&
		maps.EqualFunc(u.Extra, o.Extra, func(a, b []string) bool { return slices.Equal(a, b) })
}

// compare orders requests by the time they were received, then by who made them.
func (s *Session) compare(o *Session) int {
	return cmp.Or(
		s.Received.Compare(o.Received), cmp.Compare(s.User.Name, o.User.Name), cmp.Compare(s.Namespace, o.Namespace), cmp.Compare(s.Pod, o.Pod),
		cmp.Compare(s.AuditID, o.AuditID),
	)
}

// sameRequest tells the stages of one request from a reuse of its audit ID. A stage may not say who is impersonated.
func (s *Session) sameRequest(a *Audit) bool {
	return s.Received.Equal(a.Received) && s.User.Name == a.User.Name && s.Namespace == a.Namespace && s.Pod == a.Pod &&
		(s.Impersonated == nil || a.Impersonated == nil || s.Impersonated.Name == a.Impersonated.Name)
}

func newSession(a *Audit) *Session {
	s := &Session{AuditID: strings.Clone(a.AuditID)}
	s.fill(a)
	return s
}

// merge takes a stage in. The latest stage counts, whatever the order they come in.
func (s *Session) merge(a *Audit) {
	if a.Stage >= s.stage {
		before := *s
		s.fill(a)
		if !s.same(&before) {
			s.changes++
		}
	}
	switch {
	case a.Stage == StageResponseStarted:
		s.Started = a.At
	case a.Stage >= StageResponseComplete:
		s.Completed = a.At
	}
}

// fill copies all text, because a decoder's lies in blocks, which one open session would keep in memory as a whole.
func (s *Session) fill(a *Audit) {
	s.stage, s.Code, s.Received = a.Stage, a.Code, a.Received
	s.User, s.Impersonated = a.User.clone(), nil
	if a.Impersonated != nil {
		u := a.Impersonated.clone()
		s.Impersonated = &u
	}
	s.ExecSession = strings.Clone(a.ExecSession)
	s.SourceIPs, s.UserAgent, s.Command = cloneTexts(a.SourceIPs), strings.Clone(a.UserAgent), cloneTexts(a.Command)
	s.Namespace, s.Pod, s.Container = strings.Clone(a.Namespace), strings.Clone(a.Pod), strings.Clone(a.Container)
}

func (u *User) clone() User {
	copied := User{Name: strings.Clone(u.Name), UID: strings.Clone(u.UID), Groups: cloneTexts(u.Groups)}
	if u.Extra != nil {
		copied.Extra = make(map[string][]string, len(u.Extra))
		for key, values := range u.Extra {
			copied.Extra[strings.Clone(key)] = cloneTexts(values)
		}
	}
	return copied
}

// cloneTexts returns nil for nil.
func cloneTexts(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = strings.Clone(list[i])
	}
	return list
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
