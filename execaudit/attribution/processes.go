package attribution

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"time"
)

// processKey stands for a node and a Process on it: 128 bits that nobody outside can predict, instead of their text.
type processKey [2]uint64

// process is what is known of one process, or of one image of it where the agent's IDs are such.
type process struct {
	key                 processKey
	node                *node
	container           *container
	parent, grandparent processKey
	parentAt, at        time.Time
	identity            Process // PID, and what a journal shares
	claim               *ticket
	mixed               bool // its own events claim several IDs
	own                 *root
	found               *root // the session it was found to belong to
	exit                time.Time
	gone                bool
}

// key returns the zero key for a process without identity.
func (n *node) key(p *Process) processKey {
	switch {
	case p.ExecID != "":
		return processKey{maphash.String(n.seeds[0], p.ExecID), maphash.String(n.seeds[1], p.ExecID) | 1} // never zero
	case !p.Identified():
		return processKey{}
	}
	var room [64]byte // for two numbers and a boot ID as the kernel writes it
	b := binary.LittleEndian.AppendUint64(room[:0], uint64(p.PID))
	b = append(binary.LittleEndian.AppendUint64(b, p.StartTicks), p.BootID...)
	return processKey{^maphash.Bytes(n.seeds[0], b), maphash.Bytes(n.seeds[1], b) | 1} // no exec ID's, whatever its text
}

// learn takes an event's facts and returns its process, nil for one without identity. Each is kept by a rule that
// does not depend on the order in which events come.
func (m *Machine) learn(e *Event) *process {
	n := m.node(e.Node)
	c := m.container(n, e.ContainerID, e.Time)
	c.name(e.Namespace, e.Pod, e.Container)
	claim := m.claimOf(e)
	key := n.key(&e.Process)
	if key == (processKey{}) {
		return nil
	}
	p := m.process(n, key, e)
	p.container = smaller(p.container, c)
	p.descend(e)
	if claim == nil {
		return p
	}
	p.addClaim(claim)
	if e.Kind == KindExec && e.FirstImage && e.ParentOutside && e.AuditID != "" {
		m.originate(p, e, c, claim)
	}
	return p
}

// addClaim notes what the process claims; of several IDs, the first by text.
func (p *process) addClaim(claim *ticket) {
	p.mixed = p.mixed || p.claim != nil && !p.claim.is(claim)
	if p.claim == nil || claim.id <= p.claim.id {
		p.claim = claim
	}
}

// smaller keeps one of two containers by a rule, should an agent name two for one process.
func smaller(a, b *container) *container {
	if a == nil || b != nil && bytes.Compare(b.id[:], a.id[:]) < 0 {
		return b
	}
	return a
}

// claimOf returns the ID that the event itself claims, nil for none.
func (m *Machine) claimOf(e *Event) *ticket {
	switch {
	case e.AuditID != "":
		return m.ticket(e.AuditID, e.Time)
	case e.RequestUID != "":
		return m.ticket(uidPrefix+e.RequestUID, e.Time)
	}
	return nil
}

func (m *Machine) process(n *node, key processKey, e *Event) *process {
	p := m.processes[key]
	if p == nil {
		identity := Process{PID: e.Process.PID}
		if e.Process.ExecID == "" {
			identity = e.Process.ticks()
			identity.BootID = n.sharedBoot(identity.BootID)
		}
		p = &process{key: key, node: n, at: e.Time, identity: identity}
		m.processes[key] = p
		m.agedProcesses.push(p)
		m.agedProcesses.compact(len(m.processes), func(p *process) bool { return p.gone })
		m.grow(processBytes)
	}
	if e.Time.Before(p.at) {
		p.at = e.Time
	}
	if e.Kind == KindExit {
		p.exit = e.Time
	}
	return p
}

// descend notes the parent. The earliest sighting counts: later ones may show who adopted an orphan.
func (p *process) descend(e *Event) {
	parent := p.node.key(&e.Parent)
	if parent == (processKey{}) || parent == p.key {
		return
	}
	known := p.parent != (processKey{})
	if known && (e.Time.After(p.parentAt) || e.Time.Equal(p.parentAt) && !less(parent, p.parent)) {
		if parent == p.parent && p.grandparent == (processKey{}) {
			p.grandparent = p.node.key(&e.Grandparent)
		}
		return
	}
	p.parent, p.grandparent, p.parentAt = parent, p.node.key(&e.Grandparent), e.Time
}

func less(a, b processKey) bool {
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

// originate makes p the first process of a session, as its agent saw it.
func (m *Machine) originate(p *process, e *Event, c *container, claim *ticket) {
	if p.own == nil {
		p.own = &root{node: p.node, process: p.identity, at: e.Time}
		m.grow(rootBytes)
	}
	p.own.container = smaller(p.own.container, c)
	if e.Time.Before(p.own.at) {
		p.own.at = e.Time
	}
	m.carry(p.own, claim.id, e.Time)
}

func (p *process) sighting() sighting {
	s := sighting{process: p.identity, container: p.container, at: p.at}
	if p.own != nil && !p.own.mixed {
		s.claim, s.first = p.own.ticket, true
	}
	return s
}

// root returns the session whose first process p is.
func (p *process) root() *root {
	if p.found != nil {
		return p.found
	}
	if p.node.covered {
		return p.node.find(p.sighting())
	}
	return p.own
}

// maxDepth bounds a climb; what is deeper has no root.
const maxDepth = 4096

// chain is what the ancestors of a process say.
type chain struct {
	root  *root
	claim *ticket // the nearest claim below the root
	mixed bool    // claims below the root differ
}

// climb follows parents up to a session's first process.
func (m *Machine) climb(p *process) chain {
	var c chain
	start := p
	for depth := 0; p != nil && depth < maxDepth; depth++ {
		if c.root = p.root(); c.root != nil {
			m.remember(start, p, c.root)
			return c
		}
		c.observe(p)
		p = m.above(p)
	}
	return c
}

func (c *chain) observe(p *process) {
	switch {
	case p.claim == nil:
	case c.claim == nil:
		c.claim = p.claim
	case !c.claim.is(p.claim):
		c.mixed = true
	}
	c.mixed = c.mixed || p.mixed
}

// above returns the next known ancestor. A parent that only its children's events tell of is stepped over.
func (m *Machine) above(p *process) *process {
	if p.parent == (processKey{}) {
		return nil
	}
	if parent := m.processes[p.parent]; parent != nil {
		return parent
	}
	if p.grandparent == (processKey{}) {
		return nil
	}
	return m.processes[p.grandparent]
}

// remember spares the next climb the way, and lets ancestors be forgotten.
func (m *Machine) remember(from, to *process, r *root) {
	for p := from; ; p = m.above(p) {
		if p.found == nil {
			p.found = r
			r.live++
			if r.ticket != nil {
				r.ticket.live++
			}
		}
		if p == to {
			return
		}
	}
}
