package agent

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Role is whose process it is, of those that have a session's mark.
type Role uint8

// The roles.
const (
	// RoleSession: the session's, from its first exec in the container on.
	RoleSession Role = iota
	// RoleRuntime: the runtime's own, which has the mark since it makes the session's first process.
	RoleRuntime
)

// Event is one observation with what the node knows of it. It is a line of the agent's output.
type Event struct {
	// Event is what procevents.Decode reads from the line. Its Agent is "procevents".
	attribution.Event
	// Observation is as it was made, without Args and Env.
	Observation Observation
	Role        Role
	// Session is what the node's journal has of the session whose mark the process has; nil when it has none, or when
	// two sessions have the mark. It must not be changed, and holds as long as it is kept.
	Session *journal.Session
	// PodUID is the pod's, from the cgroup of the process or, where that is the session's container, from the session.
	PodUID string
	// ForkSeen says that the agent saw the process come to be, and missed nothing since.
	ForkSeen bool
	// Args are the arguments as the configuration has them told: kept, redacted, hashed or left out. Those of an exec
	// whose ArgsCut is set may end within an argument.
	Args []string
}

// NoticeKind is what a Notice tells.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeStart: the agent began to watch. What happened before is not told.
	NoticeStart NoticeKind = "start"
	// NoticeStop: the agent ended in order.
	NoticeStop NoticeKind = "stop"
	// NoticeLost: events are missing.
	NoticeLost NoticeKind = "lost"
	// NoticeForged: a mark of the range that no record of the node has.
	NoticeForged NoticeKind = "forged"
	// NoticeConflict: two sessions of the journal have the same mark, which no kernel gives. Neither is believed.
	NoticeConflict NoticeKind = "conflict"
	// NoticeLeft: a process has another mark than it had. Only one with CAP_AUDIT_CONTROL can do that. Of what it does
	// under a mark outside the range nothing is told.
	NoticeLeft NoticeKind = "left"
	// NoticeBlind: something cannot be seen on this node.
	NoticeBlind NoticeKind = "blind"
)

// Notice is a line of the agent's output that is not of one process's doing.
type Notice struct {
	Kind NoticeKind
	// Node and BootID are the Tracker's.
	Node, BootID string
	// Time is when the agent found it; Since, where it is known, from when on it may have been so.
	Time, Since time.Time
	// Count is how many events are missing, at most; -1 when unknown. Other kinds have 0.
	Count int64
	// Reason is a text for people, without anything that a process chose.
	Reason string
	// SessionID, LoginUID, Process and ContainerID are the first that had a forged mark, or the mark that was left and who
	// left it.
	SessionID, LoginUID uint32
	Process             attribution.Process
	ContainerID         string
}
