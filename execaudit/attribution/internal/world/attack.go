package world

import "fmt"

// move is what the adversary, or chance, does.
type move uint8

// The moves.
const (
	moveClear move = iota
	moveForge
	moveInvent
	moveCloneParentClear
	moveCloneParentForge
	moveNativeCloneParent
	moveNativeForge
	moveDoubleFork
	moveTripleFork
	moveSetsid
	moveSubreaper
	moveVfork
	moveThreadExec
	moveLoginUID
	moveRemark
	moveUnmark
	movePIDRace
	moveFlood
	moveOtherContainer
	moveHost
	moveOrphanExec
	moveDaemonRestart
	moveReuse
	moveBypass
	moveRefused
	moveNotUpgraded
	movePlaceholder
	moveLogin
	moveOutage
	moveRestart
	moveReboot
	moves
)

// String returns what the move is.
func (m move) String() string {
	return [...]string{
		"clears its claim", "claims a victim's", "claims an invented ID", "CLONE_PARENT, claim cleared", "CLONE_PARENT, a victim's claim",
		"native CLONE_PARENT, a victim's claim", "native, a victim's claim", "double fork", "triple fork", "setsid", "subreaper", "vfork", "thread executes",
		"sets a login UID", "marks itself anew", "unmarks itself", "races for a PID", "flood of claims", "to another container", "to the host", "orphan executes",
		"restarts a daemon", "reused ID", "exec past the API server", "refused", "not upgraded", "placeholder", "login on the host", "runtime's outage", "container's restart",
		"reboot",
	}[m]
}

func (w *World) count(m move) { w.moves[m]++ }

// attack is one move of a process in a session, or of the container's own.
func (n *node) attack() {
	w := n.world
	t := n.pick(func(t *task) bool { return t.session != nil || w.chance(1, 8) })
	if t == nil {
		return
	}
	t.hostile = t.hostile || t.container.init != t && w.chance(1, 2)
	m := move(w.random.IntN(int(moveDaemonRestart) + 1))
	n.make(m, t)
}

// make lets t make a move, if it can.
func (n *node) make(m move, t *task) {
	switch m {
	case moveClear, moveForge, moveInvent, moveThreadExec:
		n.claim(m, t)
	case moveCloneParentClear, moveCloneParentForge, moveNativeCloneParent:
		n.cloneParent(m, t)
	case moveNativeForge, moveVfork, moveSubreaper, moveSetsid:
		n.simple(m, t)
	case moveDoubleFork, moveTripleFork, moveOrphanExec:
		n.daemonise(m, t)
	case moveLoginUID, moveRemark, moveUnmark:
		n.remark(m, t)
	case movePIDRace:
		n.race(t)
	case moveFlood:
		n.flood(t)
	case moveOtherContainer, moveHost, moveDaemonRestart:
		n.stray(m, t)
	}
}

// borrowed returns what a victim in the container claims, or of half of it.
func (n *node) borrowed(t *task) (environment, bool) {
	w := n.world
	if len(t.container.known) == 0 {
		return environment{}, false
	}
	env := t.container.known[w.random.IntN(len(t.container.known))]
	switch w.random.IntN(6) {
	case 0:
		env.execSession = ""
	case 1:
		env.auditID = ""
	case 2:
		env.requestUID = ""
	}
	return env, true
}

// claim executes with another environment: in a child, or itself.
func (n *node) claim(m move, t *task) {
	env := environment{}
	switch m {
	case moveForge:
		var ok bool
		if env, ok = n.borrowed(t); !ok {
			return
		}
	case moveInvent:
		env = environment{auditID: fmt.Sprintf("invented-%d", n.world.random.IntN(1000)), execSession: "invented"}
	case moveThreadExec:
		env = t.env
	}
	if m == moveForge && t.session == nil {
		m = moveNativeForge
	}
	if t.container.init != t && n.world.chance(1, 3) {
		t.hostile = true
		n.kernel.exec(t, env)
	} else if child := n.hostile(t, clone{}); child != nil {
		n.kernel.exec(child, env)
	} else {
		return
	}
	n.world.count(m)
}

// hostile forks a child that counts as hostile.
func (n *node) hostile(t *task, c clone) *task {
	child := n.kernel.fork(t, c)
	if child != nil {
		child.hostile = true
	}
	return child
}

// cloneParent makes siblings: of a session's or a container's first process they have the shim as parent.
func (n *node) cloneParent(m move, t *task) {
	switch {
	case m == moveNativeCloneParent:
		t = t.container.init
	case t.session != nil && t.session.first != nil && !t.session.first.zombie && t.session.first.container == t.container && n.world.chance(2, 3):
		t = t.session.first
	}
	if t == nil || t.zombie || m != moveNativeCloneParent && t.session == nil {
		return
	}
	env, known := n.borrowed(t)
	if m == moveCloneParentClear {
		env, known = environment{}, true
	}
	if !known {
		return
	}
	if child := n.hostile(t, clone{parent: true}); child != nil {
		n.world.count(m)
		n.kernel.exec(child, env)
		n.sawActivity(child)
	}
}

func (n *node) simple(m move, t *task) {
	switch m {
	case moveSubreaper:
		t.subreaper = true
	case moveSetsid: // changes nothing of what anybody looks at
	case moveNativeForge:
		n.claim(moveForge, t)
		return
	case moveVfork: // the parent waits until the child executes
		child := n.kernel.fork(t, clone{})
		if child == nil {
			return
		}
		n.kernel.exec(child, child.env)
	}
	n.world.count(m)
}

// daemonise forks two or three times; those between exit at once.
func (n *node) daemonise(m move, t *task) {
	generations := 2
	if m == moveTripleFork {
		generations = 3
	}
	last := t
	var between []*task
	for range generations {
		child := n.hostile(last, clone{})
		if child == nil {
			break
		}
		between = append(between, child)
		last = child
	}
	if len(between) < generations {
		return
	}
	n.world.count(m)
	env := last.env
	if borrowed, ok := n.borrowed(t); ok && m == moveOrphanExec {
		env = borrowed
	}
	for _, b := range between[:len(between)-1] {
		n.end(b)
	}
	n.kernel.exec(last, env)
	n.sawActivity(last)
}
