package attribution

import (
	"slices"
	"strings"
	"time"
)

// uidPrefix keeps the Security Profiles Operator's request UIDs apart from audit IDs.
const uidPrefix = "request UID\x00"

// is compares IDs, since a ticket may have been dropped and made anew.
func (t *ticket) is(other *ticket) bool {
	return t == other || t != nil && other != nil && t.id == other.id
}

// ticket is one ID: the requests that have it and the sessions on each node that carry it.
type ticket struct {
	id       string
	requests []*Session
	roots    []*root
	crowded  bool // there were more than maxRequests
	live     int  // processes that rest on one of roots
	last     time.Time
	gone     bool
}

// maxRequests is how many requests of one ID are kept; more are as good as proof that it was reused.
const maxRequests = 16

// maxIDBytes is how much of an ID is compared; a process may claim any text.
const maxIDBytes = 1 << 10 // 1 KiB

func clip(id string) string {
	return id[:min(len(id), maxIDBytes)]
}

func (m *Machine) ticket(id string, at time.Time) *ticket {
	id = clip(id)
	t := m.tickets[id]
	if t == nil {
		t = &ticket{id: strings.Clone(id)}
		m.tickets[t.id] = t
		m.endedSessions.push(t)
		m.grow(ticketBytes + len(id))
	}
	if at.After(t.last) {
		t.last = at
	}
	return t
}

func (m *Machine) request(t *ticket, a *Audit) {
	if a.At.After(t.last) {
		t.last = a.At
	}
	for _, s := range t.requests {
		if s.sameRequest(a) {
			before := s.bytes()
			s.merge(a)
			m.grow(s.bytes() - before)
			return
		}
	}
	if len(t.requests) == maxRequests {
		t.crowded = true
		return
	}
	s := newSession(a)
	s.merge(a)
	t.requests = append(t.requests, s)
	m.grow(s.bytes())
}

// accepted returns the requests that may have started a process, else the refused ones.
func (t *ticket) accepted() []*Session {
	var accepted []*Session
	for _, s := range t.requests {
		if !s.Refused() {
			accepted = append(accepted, s)
		}
	}
	if accepted == nil {
		return t.requests
	}
	return accepted
}

// rootsOn counts the sessions on a node that carry the ID: the journal's where there is one.
func (t *ticket) rootsOn(n *node) int {
	count := 0
	for _, r := range t.roots {
		if r.node == n && r.journal == n.covered {
			count++
		}
	}
	return count
}

// addRoot keeps up to two roots of a kind for a node, which prove a reuse.
func (t *ticket) addRoot(r *root) bool {
	same := 0
	for _, known := range t.roots {
		if known == r {
			return false
		}
		if known.node == r.node && known.journal == r.journal {
			same++
		}
	}
	if same >= 2 {
		return false
	}
	t.roots = append(t.roots, r)
	return true
}

func (t *ticket) dropRoot(r *root) {
	t.roots = slices.DeleteFunc(t.roots, func(known *root) bool { return known == r })
}
