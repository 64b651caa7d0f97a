package attribution

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"
)

// Phase is which of a session's records a Record is.
type Phase uint8

// The phases, in the order in which a runtime writes them.
const (
	PhaseIntent Phase = iota
	PhaseStart
	PhaseEnd
)

// Record is one record of a runtime's exec journal. It is evidence: the process
// cannot write there.
type Record struct {
	Phase Phase
	// Time is when it happened: of an end, when Process was seen to have exited.
	Time time.Time
	// Node, ContainerID and ExecID identify the runtime's session.
	Node, ContainerID, ExecID string
	// AuditID is what reached the runtime; empty when nothing did.
	AuditID string
	// ExecSession is a bridge's ID of the session; empty without a bridge.
	ExecSession string
	// Namespace, Pod and Container are Kubernetes names.
	Namespace, Pod, Container string
	// Process is the session's first process; of an intent, at most the boot ID
	// that goes with its SessionID.
	Process Process
	// SessionID is the kernel's audit session ID of Process and its descendants;
	// with Node and Process.BootID it marks the session. 0 when none is recorded.
	SessionID uint32
	// LoginUID was set together with SessionID; 0 when none is recorded.
	LoginUID uint32
	// Lost says of an end that its time is not the process's, since nobody was there to see it in time: another process
	// may have had its PID before.
	Lost bool
	// Command is the command line, in an intent; of one over 4 KiB, the words up to there.
	Command []string
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
	known := &root{node: n, key: key, container: m.container(n, r.ContainerID, r.Time), at: r.Time, asked: r.Time}
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
	r.enlistLogin()
	m.touch(&r.node.logins)
}

// enlistLogin keeps the sessions of a login UID in an order that does not depend on that in which they came.
func (r *root) enlistLogin() {
	list := r.node.byLogin[r.login]
	i, _ := slices.BinarySearchFunc(list, r, func(a, b *root) int { return a.key.compare(b.key) })
	r.node.byLogin[r.login] = slices.Insert(list, i, r)
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
