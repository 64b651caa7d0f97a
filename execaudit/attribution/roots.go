package attribution

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
	"strings"
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
	asked  time.Time // when it was found to be in use
	watchers
	gone bool
}

// AddRecord takes in one record of a runtime's exec journal.
func (m *Machine) AddRecord(r *Record) {
	m.stats.Records++
	n := m.node(r.Node)
	key := journalKey{shortID(r.ContainerID), r.ExecID}
	known := n.journal[key]
	if known == nil {
		known = m.open(n, key, r)
	}
	m.name(known.container, r.Namespace, r.Pod, r.Container)
	m.carry(known, &known.ticket, r.AuditID, r.Time)
	if r.ExecSession != "" {
		m.carry(known, &known.session, sessionPrefix+r.ExecSession, r.Time)
	}
	m.reach(known, r)
	m.own(m.mark(n, r.Process.BootID, r.SessionID), known, r.Phase)
	m.logIn(known, r.LoginUID)
	if r.Process.PID > 0 {
		m.begin(known, r.Process)
	}
	m.touchRoot(known)
	m.shrink()
}

// touchRoot has the answers judged again that may have to do with the session: its own, and those near it that have
// none.
func (m *Machine) touchRoot(r *root) {
	m.touch(&r.watchers)
	m.touch(&r.node.loose)
	if r.container != nil {
		m.touch(&r.container.loose)
	}
	if t := r.primary(); t != nil {
		m.touch(&t.watchers)
	}
}

func (m *Machine) open(n *node, key journalKey, r *Record) *root {
	key = journalKey{key.container, strings.Clone(key.execID)}
	known := &root{node: n, key: key, container: m.container(n, r.ContainerID, r.Time), at: r.Time}
	known.enlist()
	m.agedRoots.push(known)
	heap.Push(&m.unsampled, unsampled{known.at, known})
	m.grow(rootBytes + len(key.execID))
	return known
}

// carry notes an ID of a session; every record of one repeats it. Of two, the first by text.
func (m *Machine) carry(r *root, as **ticket, id string, at time.Time) {
	if id == "" {
		return
	}
	t := m.ticket(id, at)
	if was := *as; was != nil && !was.is(t) {
		r.mixed = true
		if was.id < t.id {
			return
		}
		was.roots = without(was.roots, r)
		m.touch(&was.watchers)
	}
	*as = t
	m.addRoot(t, r)
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

// reach notes the time of a record. Of two starts the last and of two ends the first counts: between them the PID was the
// session's by both.
func (m *Machine) reach(r *root, record *Record) {
	if record.Time.Before(r.at) {
		r.at = record.Time
		heap.Push(&m.unsampled, unsampled{r.at, r})
	}
	switch record.Phase {
	case PhaseStart:
		r.start = latest(r.start, record.Time)
	case PhaseEnd:
		r.lost = r.lost || record.Lost
		if r.end.IsZero() || record.Time.Before(r.end) {
			r.end = record.Time
		}
	}
}

func (m *Machine) logIn(r *root, uid uint32) {
	if uid == 0 || r.login != 0 {
		return
	}
	r.login = uid
	r.node.byLogin[uid] = append(r.node.byLogin[uid], r)
	m.touch(&r.node.logins)
}

// begin notes the first process; every later record repeats it. Of two, the first by number.
func (m *Machine) begin(r *root, p Process) {
	if was := r.process; was.PID > 0 {
		r.mixed = r.mixed || was.differs(p)
		if was.compare(p) <= 0 || !was.differs(p) {
			return
		}
		r.unbegin()
	}
	p.BootID = r.node.sharedBoot(p.BootID)
	r.process = p
	if p.StartTicks > 0 {
		first := r.node.byTicks[p.ticks()]
		if first != nil {
			r.mixed, first.mixed = true, true // one process cannot be the first of two sessions
			m.touchRoot(first)
		}
		if first == nil || r.key.compare(first.key) < 0 {
			r.node.byTicks[p.ticks()] = r
		}
	}
	r.node.byPID[p.PID] = append(r.node.byPID[p.PID], r)
}

// differs reports whether two that a journal has are two; one may have less of its identity.
func (p Process) differs(o Process) bool {
	return p.PID != o.PID || p.StartTicks != 0 && o.StartTicks != 0 && p.StartTicks != o.StartTicks ||
		p.BootID != "" && o.BootID != "" && p.BootID != o.BootID
}

func (p Process) compare(o Process) int {
	return cmp.Or(cmp.Compare(p.PID, o.PID), cmp.Compare(p.StartTicks, o.StartTicks), cmp.Compare(p.BootID, o.BootID))
}

// unbegin has the session not found by its first process any more.
func (r *root) unbegin() {
	n := r.node
	if n.byTicks[r.process.ticks()] == r {
		delete(n.byTicks, r.process.ticks())
	}
	remove(n.byPID, r.process.PID, r)
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

// began reports whether the agent saw the runtime start a process with the root's number and ID: before the runtime
// wrote that it had, since the number is the root's until then, or before the root's end.
func (r *root) began(s sighting) bool {
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
	if r.mark != nil && r.mark.root == r {
		r.mark.root = nil
		m.queueMark(r.mark)
	}
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
