package attribution

import "cmp"

// Answer is an event with the session it belongs to.
type Answer struct {
	// Key identifies the event. Every run over the same logs computes the same, also in another order, in shards or on
	// another machine.
	Key Key
	// Revision counts the answers about the event, from 1. A later one replaces the earlier ones.
	Revision int
	// Event is the event as it was added; names of its pod that the agent left out are filled in from other evidence
	// of its container, such as the journal's.
	Event   Event
	Verdict Verdict
	Reason  Reason
	// AuditID is the ID the answer is about: the session's by evidence, else the one claimed; empty for none.
	AuditID string
	// ExecSession is a bridge's ID of the session by evidence; empty for none.
	ExecSession string
	// Session is the session as fact, for VerdictCorroborated only.
	Session *Session
	// Claims are the sessions whose ID the event claims and that it is not known to be of, by the time they were
	// received; several where requests share an ID. They are not facts. Nil for none.
	Claims []*Session
}

// compare is the order in which answers of one moment come out: time, then
// everything else that tells events apart.
func (e *Event) compare(o *Event) int {
	if c := e.Time.Compare(o.Time); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(e.Node, o.Node), cmp.Compare(e.Process.PID, o.Process.PID),
		cmp.Compare(e.Kind, o.Kind), cmp.Compare(e.Process.ExecID, o.Process.ExecID), cmp.Compare(e.Process.StartTicks, o.Process.StartTicks),
		cmp.Compare(e.Agent, o.Agent), cmp.Compare(e.ContainerID, o.ContainerID), cmp.Compare(e.AuditID, o.AuditID),
		cmp.Compare(e.ExecSession, o.ExecSession), cmp.Compare(e.RequestUID, o.RequestUID), cmp.Compare(e.Command, o.Command),
		cmp.Compare(e.SessionID, o.SessionID), cmp.Compare(e.LoginUID, o.LoginUID),
	)
}
