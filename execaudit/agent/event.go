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
	attribution.Event
	Observation Observation
	Role        Role
	// Session is what the node's journal has of the session whose mark the process has; nil when it has none.
	Session *journal.Session
	// ForkSeen says that the agent saw the process come to be.
	ForkSeen bool
	// Args are the arguments as the configuration has them told: kept, redacted, hashed or left out.
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
	// NoticeBlind: something cannot be seen on this node.
	NoticeBlind NoticeKind = "blind"
)

// Notice is a line of the agent's output that is not of one process.
type Notice struct {
	Kind NoticeKind
	// Time is when the agent found it; Since, where it is known, from when on it may have been so.
	Time, Since time.Time
	// Count is how many events are missing, at most; -1 when unknown. Other kinds have 0.
	Count int64
	// Reason is a text for people, without anything that a process chose.
	Reason string
	// SessionID, LoginUID, Process and ContainerID are the first that had a forged mark.
	SessionID, LoginUID uint32
	Process             attribution.Process
	ContainerID         string
}
