package attribution

import (
	"strings"
	"time"
)

// Kind is what a process event tells.
type Kind uint8

// The kinds of process events.
const (
	// KindActivity is anything a process did: a file opened, a rule that matched.
	KindActivity Kind = iota
	// KindFork is a process that came to be; it runs its parent's image.
	KindFork
	// KindExec is a process that began to run a program.
	KindExec
	// KindExit is a process that is gone.
	KindExit
)

// String returns the kind in lower case.
func (k Kind) String() string {
	return [...]string{"activity", "fork", "exec", "exit"}[k&3]
}

// Process identifies one process on a node. A PID alone does not, since
// numbers are reused: without ExecID or StartTicks a process has no ancestors.
type Process struct {
	// ExecID is an agent's own ID, meaningful within that agent's events of the
	// node only. It beats StartTicks.
	ExecID string `json:"execID,omitempty"`
	// ExecIDBits is the width of an ExecID that is a hash, in bits; 0 says that it
	// is none, and that no other process has it.
	ExecIDBits int `json:"execIDBits,omitempty"`
	// PID is in the host's PID namespace.
	PID int `json:"pid,omitempty"`
	// StartTicks is field 22 of /proc/PID/stat.
	StartTicks uint64 `json:"startTicks,omitempty"`
	// BootID tells one boot's ticks from another's; empty where it is not known.
	BootID string `json:"bootID,omitempty"`
}

// MinExecIDBits is the width from which a hash is as good as an ID that no other process has.
const MinExecIDBits = 64

// Identified reports whether p can be told from a later process of its number, though perhaps not for certain.
func (p Process) Identified() bool {
	return p.ExecID != "" || p.PID > 0 && p.StartTicks > 0
}

// Certain reports whether no other process of the node, at any time, has p's identity: an ExecID that is no hash or
// one of MinExecIDBits and more, or a PID with the time of its start and the boot that it counts from. What rests on
// less is never corroborated.
func (p Process) Certain() bool {
	if p.ExecID != "" {
		return p.ExecIDBits == 0 || p.ExecIDBits >= MinExecIDBits
	}
	return p.PID > 0 && p.StartTicks > 0 && p.BootID != ""
}

// Event is one process event of an agent, in the agents' common shape.
type Event struct {
	// Time is when it happened, by the node's clock.
	Time time.Time
	// Kind is what happened.
	Kind Kind
	// Agent names the source: "tetragon", "falco", "tracee", "spo", "procevents".
	Agent string
	// Node is the node's name; the key by which work is sharded.
	Node string
	// Namespace, Pod and Container are Kubernetes names, empty when unknown.
	Namespace, Pod, Container string
	// ContainerID is the CRI container ID or a prefix of it, at least 12 bytes
	// long and without scheme; empty for the host or when unknown. The first 12
	// bytes are compared.
	ContainerID string
	// Process did it; Parent made Process, as seen when Process came to be;
	// Grandparent made Parent. The latter two may be zero.
	Process, Parent, Grandparent Process
	// SessionID is the kernel's audit session ID of Process, /proc/PID/sessionid;
	// 0 when unknown or unset. With Process.BootID it finds the session that a
	// journal recorded with it, whatever the process's parents are.
	SessionID uint32
	// LoginUID is /proc/PID/loginuid; 0 when unknown or unset. A process that has
	// none may set any: a claim.
	LoginUID uint32
	// AuditID is the value of KUBERNETES_EXEC_AUDIT_ID in the process's (or an
	// ancestor's) environment: a claim. Empty when absent or not read.
	AuditID string
	// ExecSession is the value of LANYARD_EXEC_SESSION, by which a bridge
	// identifies a session: a claim.
	ExecSession string
	// RequestUID is the Security Profiles Operator's join key: a claim.
	RequestUID string
	// FirstImage says that this exec is the first since the process was cloned.
	FirstImage bool
	// ImageTicks is when a first image began, in the clock ticks of
	// Process.StartTicks; 0 when unknown. With it, a session's is told from that of
	// a process that had the PID before.
	ImageTicks uint64
	// ParentOutside says that the agent saw Parent outside of the container. So is
	// the parent of a session's first process, and of any that the first process
	// clones with CLONE_PARENT.
	ParentOutside bool
	// Command is the command line as text.
	Command string
}

// alone reports whether nothing in the event itself speaks of a session.
func (e *Event) alone() bool {
	return !e.claims() && e.SessionID == 0 && e.LoginUID == 0
}

// own copies the event's texts to one place: a decoder's lie in blocks, which one event that is kept would keep in
// memory as a whole. Those that the node has are shared.
func (e *Event) own(n *node) {
	e.Node = n.name
	texts := [...]*string{
		&e.Agent, &e.Namespace, &e.Pod, &e.Container, &e.ContainerID, &e.Process.ExecID, &e.Parent.ExecID, &e.Grandparent.ExecID,
		&e.AuditID, &e.ExecSession, &e.RequestUID, &e.Command,
	}
	length := 0
	for _, text := range texts {
		length += len(*text)
	}
	var all strings.Builder
	all.Grow(length)
	for _, text := range texts {
		start := all.Len()
		all.WriteString(*text)
		*text = all.String()[start:]
	}
	for _, p := range [...]*Process{&e.Process, &e.Parent, &e.Grandparent} {
		if p.BootID != "" {
			p.BootID = n.sharedBoot(p.BootID)
		}
	}
}
