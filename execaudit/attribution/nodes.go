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
