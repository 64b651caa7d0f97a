package attribution

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// processKey stands for a Process on its node: the same on every machine.
type processKey [2]uint64

func (k processKey) compare(o processKey) int {
	return cmp.Or(cmp.Compare(k[0], o[0]), cmp.Compare(k[1], o[1]))
}

// process is what is known of one process, or of one image of it where the agent's IDs are such.
type process struct {
	key                 processKey
	node                *node
	container           *container
	parent, grandparent processKey
	parentAt, at        time.Time
	identity            Process // PID, and what a journal shares
	claim               *ticket
	mark                *mark // the first that an event of it told
	markAt              time.Time
	found               *root // the session that it was found to belong to, by its tree
	exit                time.Time
	last, asked         time.Time // of the events that were answered; when it was last asked whether it is of use
	climbed             bool      // an answer rests on what is known of it
	idle                bool      // nothing has come of it yet, and it waits to be forgotten
	certain             bool
	mixed               bool // its own events claim several IDs
	imageTicks          uint64
	first               bool // an event showed it as the first image of a process that came from outside of the container
	outside             bool // its parent was seen outside of the container
	gone                bool
}

// ofExecID tells the keys of agents' IDs from those of start times.
const ofExecID = 1 << 63

// key returns the zero key for a process without identity.
func (n *node) key(p *Process) processKey {
	switch {
	case p.ExecID != "":
		var room [128]byte // most are shorter
		sum := sha256.Sum256(append(room[:0], p.ExecID...))
		return processKey{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]) | ofExecID}
	case !p.Identified():
		return processKey{}
	}
	n.sharedBoot(p.BootID)
	return processKey{uint64(p.PID)<<32 | uint64(n.bootSum), p.StartTicks &^ ofExecID}
}

// learn takes an event's facts and returns its process, nil for one without identity. Each is kept by a rule that
// does not depend on the order in which events come.
func (m *Machine) learn(e *Event) *process {
	n := m.node(e.Node)
	c := m.container(n, e.ContainerID, e.Time)
	m.name(c, e.Namespace, e.Pod, e.Container)
	claim := m.claimOf(e)
	k := m.mark(n, e.Process.BootID, e.SessionID)
	k.see(m, e.Time)
	key := n.key(&e.Process)
	if key == (processKey{}) {
		return nil
	}
	if n.processes[key] == nil && !(e.birth() && e.Process.Certain()) { // what is not certain may be an older one's number
		m.touch(&n.loose)
	}
	known := n.processes[key].facts()
	p := m.process(n, key, e)
	p.container = smaller(p.container, c)
	p.descend(e)
	p.wear(k, e.Time)
	if e.Kind == KindExec && e.FirstImage && e.ParentOutside {
		p.first, p.imageTicks = true, e.ImageTicks
	}
	p.addClaim(claim)
	if p.climbed && p.facts() != known {
		m.touch(n.loosened(known.container))
		m.touch(n.loosened(p.container))
	}
	return p
}

// facts are what the way up through a process depends on; zero for one of which nothing is known.
type facts struct {
	parent, grandparent processKey
	container           *container
	claim               *ticket
	mark                *mark
	at                  time.Time
	imageTicks          uint64
	certain, mixed      bool
	first, outside      bool
}

func (p *process) facts() facts {
	if p == nil {
		return facts{}
	}
	return facts{
		parent: p.parent, grandparent: p.grandparent, container: p.container, claim: p.claim, mark: p.mark, at: p.at,
		imageTicks: p.imageTicks, certain: p.certain, mixed: p.mixed, first: p.first, outside: p.outside,
	}
}

// loosened returns what the answers rest on that may have to do with what is news of a process in the container, nil
// for none.
func (n *node) loosened(c *container) *watchers {
	if c != nil {
		return &c.loose
	}
	return &n.loose
}

// addClaim notes what the process claims, nil for nothing; of several IDs, the first by text.
func (p *process) addClaim(claim *ticket) {
	if claim == nil {
		return
	}
	p.mixed = p.mixed || p.claim != nil && !p.claim.is(claim)
	if p.claim == nil || claim.id <= p.claim.id {
		p.claim = claim
	}
}

// wear notes the mark that an event shows; of several, the first.
func (p *process) wear(k *mark, at time.Time) {
	if k == nil || k == p.mark || p.mark != nil && !at.Before(p.markAt) {
		return
	}
	if p.mark != nil {
		p.mark.live--
	}
	p.mark, p.markAt = k, at
	k.live++
}

// smaller keeps one of two containers by a rule, should an agent name two for one process; of one that was dropped and
// made anew, the new.
func smaller(a, b *container) *container {
	if a == nil || b != nil && bytes.Compare(b.id[:], a.id[:]) <= 0 {
		return b
	}
	return a
}

// claimOf returns the ID that the event itself claims, nil for none.
func (m *Machine) claimOf(e *Event) *ticket {
	if id := e.claim(); id != "" {
		return m.ticket(id, e.Time)
	}
	return nil
}

// claim returns the ID that the event claims, with its kind; "" for none.
func (e *Event) claim() string {
	switch {
	case e.AuditID != "":
		return clip(e.AuditID)
	case e.ExecSession != "":
		return clip(sessionPrefix + e.ExecSession)
	case e.RequestUID != "":
		return clip(uidPrefix + e.RequestUID)
	}
	return ""
}

func (m *Machine) process(n *node, key processKey, e *Event) *process {
	p := n.processes[key]
	if p == nil {
		identity := Process{PID: e.Process.PID}
		if e.Process.ExecID == "" {
			identity = e.Process.ticks()
			identity.BootID = n.sharedBoot(identity.BootID)
		}
		p = &process{key: key, node: n, at: e.Time, identity: identity, certain: e.Process.Certain()}
		n.processes[key] = p
		m.running++
		m.agedProcesses.push(p)
		m.agedProcesses.compact(m.running, func(p *process) bool { return p.gone })
		m.grow(processBytes)
	}
	if e.Time.Before(p.at) {
		p.at = e.Time
	}
	if e.Kind == KindExit {
		p.exit = e.Time
	}
	p.certain = p.certain && e.Process.Certain() && e.Process.PID == p.identity.PID
	return p
}

// descend notes the parent. The earliest sighting counts: later ones may show who adopted an orphan.
func (p *process) descend(e *Event) {
	if p.parent != (processKey{}) && p.grandparent != (processKey{}) && e.Time.After(p.parentAt) {
		return
	}
	parent := p.node.key(&e.Parent)
	if parent == (processKey{}) || parent == p.key {
		return
	}
	known := p.parent != (processKey{})
	if known && (e.Time.After(p.parentAt) || e.Time.Equal(p.parentAt) && parent.compare(p.parent) >= 0) {
		if parent == p.parent && p.grandparent == (processKey{}) {
			p.grandparent = p.node.key(&e.Grandparent)
		}
		return
	}
	p.parent, p.grandparent, p.parentAt, p.outside = parent, p.node.key(&e.Grandparent), e.Time, e.ParentOutside
}

// birth reports whether the event is the first that can be of its process: what answers there are rests on no way up
// through it.
func (e *Event) birth() bool {
	return e.Kind == KindFork || e.Kind == KindExec && e.FirstImage
}

func (p *process) sighting() sighting {
	return sighting{process: p.identity, container: p.container, at: p.at, claim: p.own(), first: p.first, imageTicks: p.imageTicks}
}

// own returns what the process claims, nil when that is several IDs.
func (p *process) own() *ticket {
	if p.mixed {
		return nil
	}
	return p.claim
}
