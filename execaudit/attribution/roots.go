package attribution

import (
	"hash/maphash"
	"strings"
	"time"
)

// node is what is known of one node. Nothing of one node bears on another: that is why work can be sharded by it.
type node struct {
	name string
	// covered says that the node keeps an exec journal; then nothing else makes a session's first process.
	covered bool
	journal map[journalKey]*root
	byTicks map[Process]*root
	byPID   map[int][]*root

	containers map[containerID]*container

	boot  string          // the boot last heard of
	seeds [2]maphash.Seed // of this node's process keys
}

type journalKey struct {
	container containerID
	execID    string
}

// root is a session's first process.
type root struct {
	node      *node
	journal   bool
	key       journalKey
	ticket    *ticket // nil when the session has no audit ID
	container *container
	process   Process
	// at is when it started or was about to; start and end enclose a time in which
	// the PID was this process's for sure.
	at, start, end time.Time
	lost           bool
	// mixed says that its own evidence names two IDs.
	mixed bool
	live  int
	gone  bool
}

func (m *Machine) node(name string) *node {
	if n := m.lastNode; n != nil && n.name == name {
		return n
	}
	n := m.nodes[name]
	if n == nil {
		n = newNode(name)
		m.nodes[n.name] = n
	}
	m.lastNode = n
	return n
}

func newNode(name string) *node {
	return &node{
		name: strings.Clone(name), journal: map[journalKey]*root{}, byTicks: map[Process]*root{}, byPID: map[int][]*root{},
		containers: map[containerID]*container{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
}

// sharedBoot returns a copy of a boot's ID that the node's processes share.
func (n *node) sharedBoot(id string) string {
	if id != n.boot {
		n.boot = strings.Clone(id)
	}
	return n.boot
}

// AddRecord takes in one record of a runtime's exec journal.
func (m *Machine) AddRecord(r *Record) {
	m.stats.Records++
	n := m.node(r.Node)
	n.covered = true
	key := journalKey{shortID(r.ContainerID), r.ExecID}
	known := n.journal[key]
	if known == nil {
		known = m.open(n, key, r)
	}
	known.container.name(r.Namespace, r.Pod, r.Container)
	m.carry(known, r.AuditID, r.Time)
	known.reach(r)
	if r.Process.PID > 0 && known.process.PID == 0 {
		m.begin(known, r.Process)
	}
	m.shrink()
}

func (m *Machine) open(n *node, key journalKey, r *Record) *root {
	key = journalKey{key.container, strings.Clone(key.execID)}
	known := &root{node: n, journal: true, key: key, container: m.container(n, r.ContainerID, r.Time), at: r.Time}
	n.journal[key] = known
	m.agedRoots.push(known)
	m.grow(rootBytes)
	return known
}

// carry notes the ID of a session; every record of one repeats it.
func (m *Machine) carry(r *root, id string, at time.Time) {
	if id == "" {
		return
	}
	t := m.ticket(id, at)
	if r.ticket != nil && !r.ticket.is(t) {
		r.mixed = true
		return
	}
	r.ticket = t
	t.addRoot(r)
}

func (r *root) reach(record *Record) {
	if record.Time.Before(r.at) {
		r.at = record.Time
	}
	switch record.Phase {
	case PhaseStart:
		r.start = record.Time
	case PhaseEnd:
		r.end, r.lost = record.Time, record.Lost
	}
}

func (m *Machine) begin(r *root, p Process) {
	p.BootID = r.node.sharedBoot(p.BootID)
	r.process = p
	if p.StartTicks > 0 {
		r.node.byTicks[p.ticks()] = r
	}
	r.node.byPID[p.PID] = append(r.node.byPID[p.PID], r)
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

// find returns the journal's session whose first process was sighted.
func (n *node) find(s sighting) *root {
	if s.process.ExecID == "" && s.process.StartTicks > 0 {
		return n.byTicks[s.process.ticks()]
	}
	for _, r := range n.byPID[s.process.PID] {
		if r.container == s.container && (r.held(s) || r.began(s)) {
			return r
		}
	}
	return nil
}

// held reports whether the PID was the root's for sure. An end that is missing, or was not seen, leaves room for the
// PID's reuse.
func (r *root) held(s sighting) bool {
	closed := !r.start.IsZero() && !r.end.IsZero() && !r.lost
	return closed && !s.at.Before(r.start) && !s.at.After(r.end)
}

// began reports whether the agent saw the runtime start a process with the root's number and ID.
func (r *root) began(s sighting) bool {
	return s.first && s.claim != nil && s.claim.is(r.ticket) && !s.at.Before(r.at) && (r.end.IsZero() || !s.at.After(r.end))
}

func (m *Machine) closeRoot(r *root) {
	if r.gone {
		return
	}
	r.gone = true
	if r.ticket != nil {
		r.ticket.dropRoot(r)
	}
	if !r.journal {
		return
	}
	n := r.node
	delete(n.journal, r.key)
	if n.byTicks[r.process.ticks()] == r {
		delete(n.byTicks, r.process.ticks())
	}
	n.byPID[r.process.PID] = without(n.byPID[r.process.PID], r)
	if len(n.byPID[r.process.PID]) == 0 {
		delete(n.byPID, r.process.PID)
	}
	m.grow(-rootBytes)
}

func without(list []*root, gone *root) []*root {
	kept := list[:0]
	for _, r := range list {
		if r != gone {
			kept = append(kept, r)
		}
	}
	return kept
}
