package world

import (
	"fmt"
	"slices"
	"time"
)

const namespace = "shop"

// node is one machine with its pods, across its boots.
type node struct {
	Node
	world    *World
	name     string
	offset   time.Duration // its clock's
	kernel   *kernel
	pods     []*pod
	sessions []*session // that are not over
	down     bool       // the runtime is not running
	freed    []int      // PIDs of sessions' processes that are gone
}

func newNode(w *World, i int, kind Node) *node {
	n := &node{Node: kind, world: w, name: fmt.Sprintf("n%d", i)}
	if w.settings.Skewed {
		n.offset = w.around(8 * time.Second)
	}
	for j := range 2 {
		p := &pod{name: fmt.Sprintf("web-%d-%d", i, j), privileged: w.chance(1, 4), hostPID: w.chance(1, 4)}
		for c := range 1 + j {
			p.containers = append(p.containers, &container{pod: p, name: fmt.Sprintf("app-%d", c)})
		}
		n.pods = append(n.pods, p)
	}
	n.boot()
	return n
}

// boot starts the node, or starts it anew: PIDs, ticks and audit sessions begin again, and what was running is no more.
func (n *node) boot() {
	for _, s := range n.sessions {
		s.lost()
	}
	n.sessions, n.down, n.freed = nil, false, nil
	n.kernel = boot(n.world, n)
	for _, p := range n.pods {
		n.start(p)
	}
}

// clock returns a later time whenever it is read.
func (n *node) clock() time.Time {
	n.world.now += time.Duration(1 + n.world.random.IntN(20_000))
	return Dawn.Add(n.world.now + n.offset)
}

// tasks returns what runs, by PID.
func (n *node) tasks() []*task {
	var all []*task
	for _, t := range n.kernel.table {
		if t != nil && !t.zombie {
			all = append(all, t)
		}
	}
	return all
}

// pick returns a task in a container for which is holds, or nil.
func (n *node) pick(is func(*task) bool) *task {
	table := &n.kernel.table
	start := n.world.random.IntN(len(table))
	for i := range table {
		if t := table[(start+i)%len(table)]; t != nil && !t.zombie && t.container != nil && is(t) {
			return t
		}
	}
	return nil
}

// end makes t exit, and the runtime see it where t is a session's first process.
func (n *node) end(t *task) {
	if t.zombie {
		return
	}
	n.kernel.exit(t)
	if i := slices.IndexFunc(n.sessions, func(s *session) bool { return s.first == t }); i >= 0 {
		n.sessions[i].exited()
		n.freed = append(n.freed, t.pid)
	}
}

// container returns one that is running, or nil.
func (n *node) container() *container {
	p := n.pods[n.world.random.IntN(len(n.pods))]
	if c := p.containers[n.world.random.IntN(len(p.containers))]; c.init != nil && !c.init.zombie {
		return c
	}
	return nil
}
