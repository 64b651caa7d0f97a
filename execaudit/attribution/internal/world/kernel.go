package world

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

const (
	firstPID = 300
	// pids is the size of the PID space, which is small so that numbers come round often.
	pids = 80
	// hertz is of start ticks.
	hertz = 100
)

// kernel is one node's, for one boot.
type kernel struct {
	world    *World
	node     *node
	bootID   string
	booted   time.Duration
	table    [pids]*task
	started  [pids]uint64 // tick of the last process with the PID
	next     int
	auditSID uint32
	live     int
	init     *task
}

func boot(w *World, n *node) *kernel {
	w.boots++
	k := &kernel{world: w, node: n, bootID: "boot-" + strconv.Itoa(w.boots), booted: w.now - time.Second}
	k.init = &task{pid: 1, image: w.image(), children: map[*task]struct{}{}, loginUID: unset, auditSID: unset, privileged: true}
	return k
}

func (k *kernel) ticks() uint64 {
	return uint64((k.world.now - k.booted) * hertz / time.Second)
}

// allocate returns the next free index of the table, cyclically. A real table has so many that none comes round within
// one tick.
func (k *kernel) allocate() (int, bool) {
	for range pids {
		i := k.next
		k.next = (k.next + 1) % pids
		if k.table[i] == nil && k.started[i] != k.ticks() {
			return i, true
		}
	}
	return 0, false
}

// clone is how a child comes to be.
type clone struct {
	parent bool       // CLONE_PARENT: the caller's parent is the child's
	moved  bool       // to another cgroup
	into   *container // that cgroup's; nil is the host's
	runc   *session   // whose runtime the child is, for a child of a shim
}

// fork returns caller's new child, or nil where PIDs have run out, for containers earlier than for the host; or where
// the first process of a PID namespace asks for CLONE_PARENT, which is EINVAL.
func (k *kernel) fork(caller *task, c clone) *task {
	if c.parent && caller.namespace != nil && caller.namespace.init == caller {
		return nil
	}
	limit := pids / 2
	if caller.container == nil {
		limit = pids * 3 / 4
	}
	i, ok := k.allocate()
	if !ok || k.live > limit {
		return nil
	}
	w := k.world
	w.tasks++
	child := &task{
		pid: firstPID + i, ticks: k.ticks(), serial: w.tasks, image: w.image(), fresh: true, children: map[*task]struct{}{}, parent: caller,
		container: caller.container, namespace: caller.namespace, privileged: caller.privileged, loginUID: caller.loginUID, auditSID: caller.auditSID,
		env: caller.env, session: caller.session, hostile: caller.hostile, strayed: caller.strayed,
	}
	if c.parent && caller.parent != nil {
		child.parent = caller.parent
	}
	if c.moved {
		child.container = c.into
	}
	if c.runc != nil {
		child.session, child.strayed = c.runc, true
	}
	child.parent.children[child] = struct{}{}
	k.table[i], k.started[i] = child, child.ticks
	k.live++
	k.node.sawFork(child)
	return child
}

// exec gives t a new image. A thread that executes takes over its leader's PID and start.
func (k *kernel) exec(t *task, env environment) {
	first := t.fresh
	t.image, t.fresh, t.env = k.world.image(), false, env
	k.node.sawExec(t, first)
}

// exit makes t a zombie and gives its children away.
func (k *kernel) exit(t *task) {
	if t.zombie {
		return
	}
	t.zombie = true
	reaper := k.reaper(t)
	for _, child := range sorted(t.children) {
		child.parent = reaper
		reaper.children[child] = struct{}{}
	}
	clear(t.children)
	k.node.sawExit(t)
}

// reaper returns who adopts t's children: the nearest ancestor in its PID namespace that is a subreaper, else the
// namespace's init.
func (k *kernel) reaper(t *task) *task {
	for p := t.parent; p != nil && p.namespace == t.namespace; p = p.parent {
		if p.subreaper && !p.zombie {
			return p
		}
	}
	if t.namespace != nil && t.namespace.init != t {
		return t.namespace.init
	}
	return k.init
}

// reap frees a zombie's PID.
func (k *kernel) reap(t *task) {
	delete(t.parent.children, t)
	k.table[t.pid-firstPID] = nil
	k.live--
}

// setLoginUID follows audit_set_loginuid: once set, only CAP_AUDIT_CONTROL changes it, and each setting is a new
// session.
func (k *kernel) setLoginUID(t *task, uid uint32) bool {
	if t.loginUID != unset && !t.privileged {
		return false
	}
	t.loginUID, t.auditSID = uid, unset
	if uid != unset {
		k.auditSID++
		t.auditSID = k.auditSID
	}
	return true
}

// sorted returns tasks in the order in which they came to be, since a map has none.
func sorted(tasks map[*task]struct{}) []*task {
	var all []*task
	for t := range tasks {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *task) int { return cmp.Compare(a.serial, b.serial) })
	return all
}
