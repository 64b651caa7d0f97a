package world

import "fmt"

// victims returns a login UID that a session on the node has, or that one might have.
func (n *node) victims() uint32 {
	for _, s := range n.sessions {
		if s.record.LoginUID != 0 && n.world.chance(1, 2) {
			return s.record.LoginUID
		}
	}
	return 2013265920 + uint32(n.world.random.IntN(8))
}

// remark writes the login UID: of a process that has none, or that may.
func (n *node) remark(m move, t *task) {
	uid := n.victims()
	if t.loginUID != unset {
		if m == moveLoginUID {
			m = moveRemark
		}
	} else {
		m = moveLoginUID
	}
	if m == moveUnmark {
		uid = unset
	}
	if t.container.init == t || !n.kernel.setLoginUID(t, uid) {
		return
	}
	if m != moveLoginUID || t.session != nil && t.session.marked {
		t.strayed = true
	}
	t.hostile = true
	n.world.count(m)
	n.sawActivity(t)
}

// race forks until a child has the PID of a session's process that is gone, and claims to be it.
func (n *node) race(t *task) {
	if len(n.freed) == 0 {
		return
	}
	want := n.freed[n.world.random.IntN(len(n.freed))]
	if len(n.freed) > 8 {
		n.freed = n.freed[4:]
	}
	k := n.kernel
	for range pids {
		if k.next != want-firstPID {
			if !n.burn(t) {
				return
			}
			continue
		}
		child := n.hostile(t, clone{})
		if child == nil || child.pid != want {
			return
		}
		n.world.count(movePIDRace)
		if env, ok := n.borrowed(t); ok && n.world.chance(2, 3) {
			k.exec(child, env)
		}
		n.sawActivity(child)
		return
	}
}

// burn uses up a PID: mostly by a process of a pod that the agent was told to leave out.
func (n *node) burn(t *task) bool {
	k := n.kernel
	if i := k.next; k.table[i] == nil && !n.world.chance(1, 8) {
		n.world.now += 50_000
		k.next = (i + 1) % pids
		return true
	}
	child := n.hostile(t, clone{})
	if child == nil {
		return false
	}
	n.end(child)
	k.reap(child)
	return true
}

// flood makes claims, one after the other.
func (n *node) flood(t *task) {
	child := n.hostile(t, clone{})
	if child == nil {
		return
	}
	n.world.count(moveFlood)
	for i := range 4 {
		n.kernel.exec(child, environment{auditID: fmt.Sprintf("flood-%d-%d", child.serial, i)})
	}
	n.end(child)
}

// stray puts a child of a privileged process into another cgroup, as a service manager that it asks does, and claims to
// be somebody there.
func (n *node) stray(m move, t *task) {
	var into *container
	if m != moveHost {
		into = n.container()
	}
	if !t.privileged || into == t.container || m != moveHost && into == nil {
		return
	}
	child := n.hostile(t, clone{moved: true, into: into, parent: m == moveDaemonRestart})
	if child == nil {
		return
	}
	child.strayed = true
	n.world.count(m)
	env := child.env
	if into != nil && len(into.known) > 0 {
		env = into.known[n.world.random.IntN(len(into.known))]
	}
	n.kernel.exec(child, env)
	n.sawActivity(child)
	if m == moveDaemonRestart && n.world.chance(1, 2) {
		n.end(t)
	}
}
