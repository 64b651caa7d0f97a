package attribution

import (
	"cmp"
	"time"
)

// markKey is the kernel's audit session of one boot. The kernel counts them from the boot on, and no process can choose
// its own.
type markKey struct {
	boot    string
	session uint32
}

func (k markKey) compare(o markKey) int {
	return cmp.Or(cmp.Compare(k.boot, o.boot), cmp.Compare(k.session, o.session))
}

// mark is one audit session of the kernel on a node: the session that a journal recorded it for, and the processes that
// have it.
type mark struct {
	node *node
	key  markKey
	root *root // nil when no journal has it
	// shared says that a journal has it for several sessions: then it was not set for one.
	shared bool
	// first and last are of the events that have it.
	first, last time.Time
	live        int // processes that have it
	held        int // sessions that have it
	watchers
	queued bool // to be asked whether it can be forgotten
	gone   bool
}

// markSlack is how much earlier than the journal's first word of a session its mark may be seen: it is set just before
// that is written.
const markSlack = time.Second

// mark returns the mark of a process on the node; nil without a session ID, or without a boot to tell it from that of
// another boot.
func (m *Machine) mark(n *node, boot string, session uint32) *mark {
	if session == 0 || boot == "" {
		return nil
	}
	key := markKey{n.sharedBoot(boot), session}
	k := n.marks[key]
	if k == nil {
		k = &mark{node: n, key: key}
		n.marks[key] = k
		m.queueMark(k)
		m.grow(markBytes)
	}
	return k
}

func (m *Machine) queueMark(k *mark) {
	if !k.queued && !k.gone {
		k.queued = true
		m.agedMarks.push(k)
	}
}

// see notes the time of an event that has the mark; safe on nil.
func (k *mark) see(m *Machine, at time.Time) {
	if k == nil {
		return
	}
	if k.first.IsZero() || at.Before(k.first) {
		k.first = at
		m.touch(&k.watchers)
	}
	k.last = latest(k.last, at)
}

// anchor returns the session that the mark was set for; nil for none. It was set for one that has it in the intent, before
// there is a process. A mark that there was before the session, that several have, or that only the process was found to
// have, is of a login from which the runtime was started. Safe on nil.
func (k *mark) anchor() *root {
	if k == nil || k.root == nil || k.shared || !k.root.intended || !k.first.IsZero() && k.first.Before(k.root.at.Add(-markSlack)) {
		return nil
	}
	return k.root
}

// own notes that the journal has the mark for r.
func (m *Machine) own(k *mark, r *root, phase Phase) {
	if k == nil {
		return
	}
	r.intended = r.intended || phase == PhaseIntent
	k.last = latest(k.last, r.at)
	k.shared = k.shared || k.root != nil && k.root != r
	if k.root == nil {
		k.root = r
	}
	if r.mark != k {
		r.mixed = r.mixed || r.mark != nil
		r.let(m)
		r.mark = k
		k.held++
	}
	m.touch(&k.watchers)
}

// let lets go of the session's mark.
func (r *root) let(m *Machine) {
	k := r.mark
	if k == nil {
		return
	}
	if k.root == r {
		k.root = nil
	}
	if k.held--; k.held == 0 {
		m.queueMark(k)
	}
}

// anchored reports whether the session has a mark of its own.
func (r *root) anchored() bool {
	return r.mark.anchor() == r
}

func (m *Machine) dropMark(k *mark) {
	if k.gone {
		return
	}
	k.gone = true
	delete(k.node.marks, k.key)
	m.grow(-markBytes)
}
