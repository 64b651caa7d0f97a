package attribution

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

type journalKey struct {
	container containerID
	execID    string
}

func (k journalKey) compare(o journalKey) int {
	return cmp.Or(bytes.Compare(k.container[:], o.container[:]), cmp.Compare(k.execID, o.execID))
}

// root is a session that a journal recorded, and its first process.
type root struct {
	node      *node
	key       journalKey
	ticket    *ticket // of its audit ID, nil without one
	session   *ticket // of a bridge's ID, nil without one
	container *container
	process   Process
	mark      *mark // nil when the journal has none
	intended  bool  // the intent has the mark
	login     uint32
	// at is when it started or was about to; start and end enclose a time in which
	// the PID was this process's for sure.
	at, start, end time.Time
	lost           bool
	// mixed says that its own records disagree.
	mixed bool
	// reused says that there was another session with its ID on the node.
	reused bool
	live   int
	asked  time.Time // when it was first heard of, or found to be in use
	watchers
	gone bool
}

// primary returns the ticket by which the session's request is found; nil for a session without an ID.
func (r *root) primary() *ticket {
	if r.ticket != nil && (r.ticket.id != placeholder || r.session == nil) {
		return r.ticket
	}
	return r.session
}

// carries reports whether the journal has the ID for the session.
func (r *root) carries(t *ticket) bool {
	return t != nil && (t.is(r.ticket) || t.is(r.session))
}

// ticks is the part of a process's identity that a journal shares with kernel events.
func (p Process) ticks() Process {
	return Process{PID: p.PID, StartTicks: p.StartTicks, BootID: p.BootID}
}

// sighting is what is needed to recognise a session's first process.
type sighting struct {
	process   Process
	container *container
	at        time.Time
	claim     *ticket
	first     bool // the first image, and its parent outside of the container
	// imageTicks is when that began; 0 when unknown.
	imageTicks uint64
}

// find returns the session whose first process was sighted.
func (n *node) find(s sighting) *root {
	if s.process.ExecID == "" && s.process.StartTicks > 0 {
		return n.byTicks[s.process.ticks()]
	}
	if r := n.holder(s); r != nil {
		return r
	}
	return n.byNumber(s, (*root).began)
}

// holder returns the session whose first process had the PID at the time for sure.
func (n *node) holder(s sighting) *root {
	return n.byNumber(s, (*root).held)
}

// byNumber returns the one session in the container whose first process had the PID, as far as fits says; nil for none
// and for several.
func (n *node) byNumber(s sighting, fits func(*root, sighting) bool) (found *root) {
	for _, r := range n.byPID[s.process.PID] {
		if !r.container.is(s.container) || !fits(r, s) {
			continue
		}
		if found != nil {
			return nil
		}
		found = r
	}
	return found
}

// held reports whether the PID was the root's for sure. An end that is missing, or was not seen, leaves room for the
// PID's reuse.
func (r *root) held(s sighting) bool {
	return !r.start.IsZero() && r.closed() && !s.at.Before(r.start) && !s.at.After(r.end)
}

func (r *root) closed() bool {
	return !r.end.IsZero() && !r.lost
}

// began reports whether the agent saw the runtime start a process with the root's number and ID: after the root was
// cloned, and before the runtime wrote that it had been, since the number is the root's until then, or before the root's
// end.
func (r *root) began(s sighting) bool {
	if r.process.StartTicks == 0 || s.imageTicks < r.process.StartTicks {
		return false
	}
	until := r.start
	if r.closed() {
		until = r.end
	}
	return s.first && r.carries(s.claim) && !s.at.Before(r.at) && !s.at.After(until)
}

func (m *Machine) closeRoot(r *root) {
	if r.gone {
		return
	}
	r.gone = true
	for _, t := range [...]*ticket{r.ticket, r.session} {
		if t != nil {
			m.dropRoot(t, r)
		}
	}
	r.let(m)
	if c := r.container; c != nil {
		c.roots = without(c.roots, r)
	}
	n := r.node
	delete(n.journal, r.key)
	r.unbegin()
	remove(n.byLogin, r.login, r)
	m.grow(-rootBytes - len(r.key.execID))
}

// remove takes r out of one of the lists.
func remove[K comparable](lists map[K][]*root, key K, r *root) {
	list := without(lists[key], r)
	if len(list) == 0 {
		delete(lists, key)
		return
	}
	lists[key] = list
}

func without(list []*root, gone *root) []*root {
	return slices.DeleteFunc(list, func(r *root) bool { return r == gone })
}
