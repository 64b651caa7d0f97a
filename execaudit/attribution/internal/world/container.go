package world

import "fmt"

// pod has up to two containers and one shim, which is the parent of what the runtime starts in them.
type pod struct {
	name       string
	privileged bool
	hostPID    bool
	shim       *task
	containers []*container
}

// container has the processes of one cgroup.
type container struct {
	pod  *pod
	name string
	id   string
	init *task
	// known are claims that processes in it have seen in each other's environment, the latest last.
	known []environment
}

const maxKnown = 8

// learn remembers what everybody in the container can read.
func (c *container) learn(env environment) {
	if env == (environment{}) {
		return
	}
	if len(c.known) == maxKnown {
		c.known = append(c.known[:0], c.known[1:]...)
	}
	c.known = append(c.known, env)
}

// start makes the pod's shim and containers on a node that has just booted.
func (n *node) start(p *pod) {
	k := n.kernel
	runtime := k.fork(k.init, clone{})
	if n.Mark == MarkShared {
		k.setLoginUID(runtime, 1000)
	}
	p.shim = k.fork(runtime, clone{})
	k.exec(p.shim, environment{})
	p.shim.subreaper = true
	k.exit(runtime)
	k.reap(runtime)
	for _, c := range p.containers {
		n.run(c)
	}
}

// run starts a container anew, with another ID.
func (n *node) run(c *container) {
	n.world.containers++
	c.id = fmt.Sprintf("%012x%052x", n.world.containers, n.world.random.Uint64())
	c.known = nil
	t := n.kernel.fork(c.pod.shim, clone{moved: true, into: c})
	if t == nil {
		c.init = nil
		return
	}
	t.privileged = c.pod.privileged
	t.namespace = nil
	if !c.pod.hostPID {
		t.namespace = c
	}
	c.init = t
	n.kernel.exec(t, environment{})
}

// stop kills every process of a container and of its PID namespace.
func (n *node) stop(c *container) {
	for _, t := range n.tasks() {
		if t.container == c || t.namespace == c && c != nil {
			n.end(t)
			n.kernel.reap(t)
		}
	}
}
