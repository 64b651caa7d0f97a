package world

import (
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// placeholder is the audit ID of a session whose API server had none (KEP-6035, Audit ID Propagation).
const placeholder = "unknown"

// act lets one thing happen on the node.
func (n *node) act() {
	w := n.world
	if n.down && w.chance(1, 30) {
		n.toggle()
	}
	switch d := w.random.IntN(1000); {
	case d < 1:
		w.count(moveReboot)
		n.boot()
	case d < 4:
		n.restart()
	case d < 8:
		n.toggle()
	case d < 90:
		n.request()
	case d < 100:
		n.bypass()
	case d < 108:
		n.login()
	case d < 350:
		n.reapOne()
	case d < 500:
		n.attack()
	default:
		n.behave()
	}
}

// runtime carries out what is due. While it is down, nobody writes down what has started.
func (n *node) runtime() {
	for _, s := range n.sessions {
		if s.due <= n.world.now && s.phase != phaseRun && !(n.down && s.phase == phaseStart) {
			s.step()
		}
	}
	n.sessions = slices.DeleteFunc(n.sessions, func(s *session) bool { return s.phase == phaseOver })
}

// toggle stops the runtime, or starts it again. Processes go on meanwhile.
func (n *node) toggle() {
	n.world.count(moveOutage)
	n.down = !n.down
	if !n.down {
		for _, s := range n.sessions {
			s.recover()
		}
	}
}

// restart stops a container and runs it anew.
func (n *node) restart() {
	p := n.pods[n.world.random.IntN(len(n.pods))]
	c := p.containers[n.world.random.IntN(len(p.containers))]
	n.world.count(moveRestart)
	n.stop(c)
	n.run(c)
}

const maxOpen = 6

// request is a user's kubectl exec.
func (n *node) request() {
	w, c := n.world, n.container()
	if c == nil || len(n.sessions) >= maxOpen {
		return
	}
	id := ""
	if w.settings.Reused && len(w.recent) > 0 && w.chance(1, 6) {
		id = n.reused(c)
	}
	r := w.receive(c, id)
	r.reach(w, attribution.StageRequestReceived, 0, "")
	switch w.random.IntN(16) {
	case 0:
		w.count(moveRefused)
		r.reach(w, attribution.StageResponseComplete, 403, "")
		return
	case 1:
		w.count(moveNotUpgraded)
		r.reach(w, attribution.StageResponseComplete, 200, "")
		return
	}
	if w.chance(1, 8) { // two in one tick
		n.twin()
	}
	n.accept(c, r)
}

// twin opens a session at the same time as another.
func (n *node) twin() {
	if c := n.container(); c != nil {
		n.accept(c, n.world.receive(c, ""))
	}
}

// accept lets the runtime start what was asked for.
func (n *node) accept(c *container, r *request) {
	w := n.world
	env := environment{auditID: r.audit.AuditID}
	if n.bridged() {
		env.execSession = "bridge-" + AgentOf(r.number)
		if w.chance(1, 2) {
			env.auditID = ""
		}
	} else if w.chance(1, 16) {
		w.count(movePlaceholder)
		env.auditID = placeholder
	}
	env.requestUID = r.audit.RequestUID
	s := n.open(c, r, env)
	s.plain = s.plain && env.auditID != placeholder
}

// reused draws an ID that a session has: of this container, or of any.
func (n *node) reused(c *container) string {
	w := n.world
	w.count(moveReuse)
	mine := slices.Clone(w.recent)
	if w.chance(2, 3) {
		mine = slices.DeleteFunc(mine, func(p past) bool { return p.container != c })
	}
	if len(mine) == 0 {
		mine = w.recent
	}
	return mine[w.random.IntN(len(mine))].auditID
}

// bypass is an exec that the API server does not see as one: through nodes/proxy, with an ID of the caller's choice, or
// a probe of the kubelet's, with none.
func (n *node) bypass() {
	w, c := n.world, n.container()
	if c == nil || len(n.sessions) >= maxOpen {
		return
	}
	var env environment
	switch d := w.random.IntN(4); {
	case d == 0 && w.settings.Reused && len(c.known) > 0:
		env.auditID = c.known[w.random.IntN(len(c.known))].auditID
	case d == 1 && w.settings.Reused && len(w.recent) > 0:
		env.auditID = w.recent[w.random.IntN(len(w.recent))].auditID
	case d == 2:
		env.auditID = placeholder
	}
	w.count(moveBypass)
	n.open(c, nil, env)
}

// login is somebody's on the host, by SSH: a fresh audit session that no journal has.
func (n *node) login() {
	k := n.kernel
	shell := k.fork(k.init, clone{})
	if shell == nil {
		return
	}
	n.world.count(moveLogin)
	n.leaveHost()
	k.setLoginUID(shell, 1000)
	k.exec(shell, environment{})
	if child := k.fork(shell, clone{}); child != nil {
		k.exec(child, environment{})
		n.end(child)
	}
	n.end(shell)
}

// leaveHost ends what sessions left behind in the host's cgroup, which does nothing else.
func (n *node) leaveHost() {
	for _, t := range n.tasks() {
		if t.container == nil && t.session != nil && t.session.runc != t && n.world.chance(1, 2) {
			n.end(t)
		}
	}
}

// reapOne frees a PID.
func (n *node) reapOne() {
	table := &n.kernel.table
	start := n.world.random.IntN(len(table))
	for i := range table {
		if t := table[(start+i)%len(table)]; t != nil && t.zombie {
			n.kernel.reap(t)
			return
		}
	}
}

// behave is what programs do all day.
func (n *node) behave() {
	w, k := n.world, n.kernel
	t := n.pick(func(t *task) bool { return t.session != nil || w.chance(1, 12) })
	if t == nil {
		return
	}
	switch d := w.random.IntN(16); {
	case (k.live > pids/3 || t.session == nil) && d < 6:
		n.finish(t)
	case d < 6:
		n.sawActivity(t)
	case d < 10:
		if child := k.fork(t, clone{}); child != nil {
			k.exec(child, child.env)
		}
	case d < 11:
		k.fork(t, clone{})
	case d < 12:
		k.exec(t, t.env)
	default:
		n.finish(t)
	}
}

// finish ends a process that may: a container's first goes on, and a session's first mostly does.
func (n *node) finish(t *task) {
	isFirst := t.session != nil && t.session.first == t
	if t.container.init == t || isFirst && !n.world.chance(1, 5) {
		n.sawActivity(t)
		return
	}
	n.end(t)
}
