package world

import "time"

// Dawn is when a world begins.
var Dawn = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// Agent is what a node's agent knows of processes.
type Agent uint8

// The kinds of agents.
const (
	// AgentMark has PID, start ticks, boot ID and the kernel's audit session; the parent is as it was at the fork.
	AgentMark Agent = iota
	// AgentTicks is AgentMark without the audit session.
	AgentTicks
	// AgentNoBoot has ticks and audit session but no boot ID; parent and grandparent are as they are at the event.
	AgentNoBoot
	// AgentImages has an exact ID of each image and the login UID; the parent is as it was at the exec, and there are no forks.
	AgentImages
	// AgentImagesMark is AgentImages with the boot ID and the audit session.
	AgentImagesMark
	// AgentHashes has a hash of 32 bits, of which only a few values are drawn.
	AgentHashes
	// AgentPIDs has PIDs alone.
	AgentPIDs
	// AgentPIDsMark has PIDs, the boot ID and the audit session.
	AgentPIDsMark
	agents
)

// String returns a short name.
func (a Agent) String() string {
	return [...]string{"ticks+mark", "ticks", "ticks-boot", "images", "images+mark", "hashes", "PIDs", "PIDs+mark"}[a]
}

// Mark is what the kernel's audit session of a runtime's sessions is.
type Mark uint8

// The kinds of marks.
const (
	// MarkNone is a runtime that has no audit session and sets none.
	MarkNone Mark = iota
	// MarkOwn is a fresh audit session for each exec, which the journal's intent has.
	MarkOwn
	// MarkShared is a runtime that was started from a login shell: it, its containers and its sessions share one.
	MarkShared
	marks
)

// String returns a short name.
func (m Mark) String() string {
	return [...]string{"none", "own", "shared"}[m]
}

// Node is how one node is set up.
type Node struct {
	Journal bool
	Mark    Mark
	Agent   Agent
}

// Settings say which world is drawn.
type Settings struct {
	Seed uint64
	// Events is how many process events there are, at least.
	Events int
	// Nodes are the nodes; their names are n0, n1 and so on.
	Nodes []Node
	// Lost is every third event lost, and some audit events.
	Lost bool
	// Late are audit events up to twelve minutes late; without it all evidence comes within ten seconds.
	Late bool
	// Skewed are clocks: nodes' by up to eight seconds, API servers' by up to three.
	Skewed bool
	// Reused are audit IDs that clients choose to be another's, or their own once more.
	Reused bool
}

// AllNodes returns one node of each kind.
func AllNodes() []Node {
	var all []Node
	for _, journal := range []bool{false, true} {
		for m := range marks {
			for a := range agents {
				all = append(all, Node{journal, m, a})
			}
		}
	}
	return all
}
