package attribution

import (
	"hash/fnv"
	"strings"
)

// node is what is known of one node. Nothing of one node bears on another: that is why work can be sharded by it.
type node struct {
	name      string
	journal   map[journalKey]*root
	byTicks   map[Process]*root
	byPID     map[int][]*root
	byLogin   map[uint32][]*root
	marks     map[markKey]*mark
	processes map[processKey]*process

	containers map[containerID]*container
	loose      watchers // answers about processes of no container and no session
	logins     watchers // answers that a login UID may explain
	clock      clock

	boot    string // the boot last heard of
	bootSum uint32 // of boot
}

func (m *Machine) node(name string) *node {
	if n := m.lastNode; n != nil && n.name == name {
		return n
	}
	n := m.nodes[name]
	if n == nil {
		n = newNode(name)
		m.nodes[n.name] = n
		m.agedNodes.push(n)
		m.grow(n.bytes())
	}
	m.lastNode = n
	return n
}

func newNode(name string) *node {
	return &node{
		name: strings.Clone(name), journal: map[journalKey]*root{}, byTicks: map[Process]*root{}, byPID: map[int][]*root{},
		byLogin: map[uint32][]*root{}, marks: map[markKey]*mark{}, processes: map[processKey]*process{},
		containers: map[containerID]*container{}, bootSum: sumOf(""),
	}
}

func sumOf(boot string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(boot))
	return h.Sum32()
}

// sharedBoot returns a copy of a boot's ID that the node's processes share.
func (n *node) sharedBoot(id string) string {
	if id != n.boot {
		n.boot, n.bootSum = strings.Clone(id), sumOf(id)
	}
	return n.boot
}

// bytes is what the node takes without what is known of it.
func (n *node) bytes() int {
	return nodeBytes + len(n.name)
}

// empty reports whether nothing is known of the node.
func (n *node) empty() bool {
	return len(n.journal)+len(n.marks)+len(n.processes)+len(n.containers)+len(n.clock.samples) == 0 &&
		!n.loose.watched() && !n.clock.doubted.watched()
}

// evictNode looks at the node that was looked at longest ago, and forgets it if nothing is known of it.
func (m *Machine) evictNode() bool {
	n, ok := m.agedNodes.pop()
	if !ok {
		return false
	}
	if !n.empty() {
		m.agedNodes.push(n)
		return false
	}
	delete(m.nodes, n.name)
	m.lastNode = nil
	m.grow(-n.bytes())
	return true
}

// again returns the process that has p's identity now; nil for none. The node may have been made anew, too.
func (m *Machine) again(p *process) *process {
	if n := m.nodes[p.node.name]; n != nil {
		return n.processes[p.key]
	}
	return nil
}
