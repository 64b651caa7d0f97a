package attribution

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Prefixes keep the Security Profiles Operator's request UIDs and a bridge's session IDs apart from audit IDs.
const (
	uidPrefix     = "request UID\x00"
	sessionPrefix = "exec session\x00"
)

// is compares IDs, since a ticket may have been dropped and made anew.
func (t *ticket) is(other *ticket) bool {
	return t == other || t != nil && other != nil && t.id == other.id
}

// ticket is one ID: the requests that have it and the sessions on each node that carry it.
type ticket struct {
	id       string
	requests []*Session
	roots    []*root
	ended    []ended // of each node at most one, by its name
	crowded  bool    // there were more than maxRequests
	last     time.Time
	watchers
	gone bool
}

// isAuditID reports whether the ID is one of the API server's.
func (t *ticket) isAuditID() bool {
	return !strings.HasPrefix(t.id, uidPrefix) && !strings.HasPrefix(t.id, sessionPrefix)
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
	t.last = latest(t.last, at)
	return t
}

// request takes in a stage and returns its request; nil where there are too many.
func (m *Machine) request(t *ticket, a *Audit) *Session {
	t.last = latest(t.last, a.At)
	m.touch(&t.watchers)
	for _, s := range t.requests {
		if s.sameRequest(a) {
			before := s.bytes()
			s.merge(a)
			m.grow(s.bytes() - before)
			m.sampleAgain(t)
			return s
		}
	}
	if len(t.requests) >= maxRequests {
		t.crowded = true
		return nil
	}
	s := newSession(a)
	s.merge(a)
	t.requests = append(t.requests, s)
	m.grow(s.bytes())
	m.sampleAgain(t)
	return s
}

// link has a request found by another of its IDs, too.
func (m *Machine) link(id string, s *Session, a *Audit) {
	t := m.ticket(id, a.Received)
	t.last = latest(t.last, a.At)
	m.touch(&t.watchers)
	switch {
	case slices.Contains(t.requests, s):
	case len(t.requests) >= maxRequests:
		t.crowded = true
	default:
		t.requests = append(t.requests, s)
		m.sampleAgain(t)
	}
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

// maxRoots is how many sessions of one ID are kept for a node; two prove a reuse.
const maxRoots = 2

// ended is a session that was forgotten.
type ended struct {
	node string
	key  journalKey
}

// addRoot notes a session that carries the ID. Two on a node prove a reuse, also when one is forgotten before the other
// is heard of.
func (m *Machine) addRoot(t *ticket, r *root) {
	if t.id == placeholder || slices.Contains(t.roots, r) {
		return
	}
	r.reused = r.reused || slices.ContainsFunc(t.ended, func(e ended) bool { return e.node == r.node.name && e.key != r.key })
	here := 0
	for _, other := range t.roots {
		if other.node == r.node {
			r.reused, other.reused = true, true
			m.touch(&other.watchers)
			here++
		}
	}
	if here < maxRoots {
		t.roots = append(t.roots, r)
	}
	if here > 0 {
		m.sampleAgain(t)
	}
}

// dropRoot forgets a session but for one of its node: of several the first by its key, in whatever order they go.
func (m *Machine) dropRoot(t *ticket, r *root) {
	t.roots = without(t.roots, r)
	if t.gone {
		return
	}
	i, known := slices.BinarySearchFunc(t.ended, r.node.name, func(e ended, node string) int { return cmp.Compare(e.node, node) })
	switch {
	case !known:
		t.ended = slices.Insert(t.ended, i, ended{r.node.name, r.key})
		m.grow(endedBytes + len(r.key.execID))
	case r.key.compare(t.ended[i].key) < 0:
		m.grow(len(r.key.execID) - len(t.ended[i].key.execID))
		t.ended[i].key = r.key
	}
}
