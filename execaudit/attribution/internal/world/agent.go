package world

import (
	"strconv"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// view is what an agent remembers of a task.
type view struct {
	parent  attribution.Process // as seen at the fork or at the exec
	outside bool
	forked  bool // the fork was seen
}

// hashes is how many values AgentHashes draws from.
const hashes = 400

// identity is how the node's agent names a task.
func (n *node) identity(t *task) attribution.Process {
	if t == nil {
		return attribution.Process{}
	}
	p := attribution.Process{PID: t.pid}
	switch n.Agent {
	case AgentMark, AgentTicks:
		p.StartTicks, p.BootID = t.ticks, n.kernel.bootID
	case AgentNoBoot:
		p.StartTicks = t.ticks
	case AgentImages:
		p.ExecID = n.name + ":" + strconv.Itoa(t.image)
	case AgentImagesMark:
		p.ExecID, p.BootID = n.name+":"+strconv.Itoa(t.image), n.kernel.bootID
	case AgentHashes:
		p.ExecID, p.ExecIDBits = strconv.FormatUint(uint64(t.serial)*2654435761%1000003%hashes, 10), 32
	case AgentPIDsMark:
		p.BootID = n.kernel.bootID
	}
	return p
}

// sawFork is told of each clone; the agent may miss it.
func (n *node) sawFork(t *task) {
	if n.Agent == AgentImages || n.Agent == AgentImagesMark {
		n.remember(t)
		return
	}
	if n.misses() {
		return
	}
	n.remember(t)
	t.view.forked = true
	n.emit(t, attribution.KindFork, false)
}

func (n *node) remember(t *task) {
	t.view.parent, t.view.outside = n.identity(t.parent), t.parent.container != t.container
}

// sawExec is told of each exec; first says that t has executed nothing before.
func (n *node) sawExec(t *task, first bool) {
	if n.Agent == AgentImages || n.Agent == AgentImagesMark {
		n.remember(t)
		t.view.forked = true
	}
	if !n.misses() {
		n.emit(t, attribution.KindExec, first && t.view.forked)
	}
}

func (n *node) sawExit(t *task) {
	if !n.misses() {
		n.emit(t, attribution.KindExit, false)
	}
}

func (n *node) sawActivity(t *task) {
	if !n.misses() {
		n.emit(t, attribution.KindActivity, false)
	}
}

// misses reports whether the agent loses the next event.
func (n *node) misses() bool {
	return n.world.settings.Lost && n.world.chance(1, 3)
}

// emit writes an event down.
func (n *node) emit(t *task, kind attribution.Kind, first bool) {
	w := n.world
	w.events++
	e := &attribution.Event{
		Time: n.clock(), Kind: kind, Agent: "test", Node: n.name, Process: n.identity(t), Parent: t.view.parent, ParentOutside: t.view.outside, FirstImage: first,
		Command: commandOf(w.events, t.truth()),
	}
	if n.Agent == AgentNoBoot {
		e.Parent, e.Grandparent = n.identity(t.parent), n.identity(grandparent(t))
	}
	if kind != attribution.KindFork && kind != attribution.KindExit {
		e.AuditID, e.ExecSession, e.RequestUID = t.env.auditID, t.env.execSession, t.env.requestUID
	}
	if c := t.container; c != nil {
		e.ContainerID = c.id[:12+w.random.IntN(40)]
		if w.chance(1, 2) {
			e.Namespace, e.Pod, e.Container = namespace, c.pod.name, c.name
		}
	}
	if kind == attribution.KindExec && (n.Agent == AgentImages || n.Agent == AgentImagesMark) {
		e.ImageTicks = n.kernel.ticks()
	}
	n.emitMark(e, t)
	w.send(Piece{Event: e}, w.soon())
}

func grandparent(t *task) *task {
	if t.parent == nil {
		return nil
	}
	return t.parent.parent
}

func (n *node) emitMark(e *attribution.Event, t *task) {
	if t.loginUID != unset && n.Agent != AgentTicks && n.Agent != AgentHashes {
		e.LoginUID = t.loginUID
	}
	switch n.Agent {
	case AgentMark, AgentNoBoot, AgentImagesMark, AgentPIDsMark:
		if t.auditSID != unset {
			e.SessionID = t.auditSID
		}
	}
}
