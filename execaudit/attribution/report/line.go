// Package report writes answers: a table for people, JSON lines for programs, and one page that shows overlapping
// sessions side by side without a network.
package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// Line is one answer in JSON. User, Groups and Session are present for the verdict corroborated only; what was merely
// claimed is under Claims. Of several lines with one Key the one of the highest Revision counts.
type Line struct {
	Key         attribution.Key        `json:"key"`
	Revision    int                    `json:"revision"`
	Time        time.Time              `json:"time"`
	Verdict     attribution.Verdict    `json:"verdict"`
	Reason      attribution.Reason     `json:"reason"`
	User        string                 `json:"user,omitempty"`
	Groups      []string               `json:"groups,omitempty"`
	AuditID     string                 `json:"auditID,omitempty"`
	ExecSession string                 `json:"execSession,omitempty"` // a bridge's ID of the session
	Event       string                 `json:"event"`
	Agent       string                 `json:"agent"`
	Node        string                 `json:"node,omitempty"`
	Namespace   string                 `json:"namespace,omitempty"`
	Pod         string                 `json:"pod,omitempty"`
	Container   string                 `json:"container,omitempty"`
	ContainerID string                 `json:"containerID,omitempty"`
	Process     attribution.Process    `json:"process"`
	Parent      *attribution.Process   `json:"parent,omitempty"`
	SessionID   uint32                 `json:"sessionID,omitempty"` // the kernel's audit session of Process
	Command     string                 `json:"command,omitempty"`
	Session     *attribution.Session   `json:"session,omitempty"`
	Claims      []*attribution.Session `json:"claims,omitempty"`
}

// LineOf returns the answer in the shape of its JSON. User is whom the request was carried out as: the impersonated
// user when there is one; Session names both.
func LineOf(a *attribution.Answer) Line {
	e := &a.Event
	l := Line{
		Key: a.Key, Revision: a.Revision, Time: e.Time, Verdict: a.Verdict, Reason: a.Reason, AuditID: a.AuditID, ExecSession: a.ExecSession,
		Event: e.Kind.String(), Agent: e.Agent, Node: e.Node, Namespace: e.Namespace, Pod: e.Pod, Container: e.Container, ContainerID: e.ContainerID,
		Process: e.Process, SessionID: e.SessionID, Command: e.Command, Session: a.Session, Claims: a.Claims,
	}
	if e.Parent != (attribution.Process{}) {
		l.Parent = &e.Parent
	}
	if s := a.Session; s != nil {
		l.User, l.Groups = s.Actor().Name, s.Actor().Groups
		l.fill(s)
	}
	return l
}

// fill takes what the agent did not say from the session.
func (l *Line) fill(s *attribution.Session) {
	if l.Namespace == "" && l.Pod == "" {
		l.Namespace, l.Pod = s.Namespace, s.Pod
	}
}

// JSON writes answers as JSON lines. What a terminal may act on is escaped, so that a line can be looked at.
type JSON struct{ w io.Writer }

// NewJSON returns a writer to w.
func NewJSON(w io.Writer) *JSON {
	return &JSON{w}
}

// Add writes one line.
func (j *JSON) Add(a *attribution.Answer) error {
	line, err := json.Marshal(LineOf(a))
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(terminal.EscapeJSON(line), '\n'))
	return err
}

// Close does nothing: every line is written at once.
func (j *JSON) Close() error {
	return nil
}
