package attribution

import "time"

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
	// ExecID is an agent's own ID, unique on the node and meaningful within that
	// agent's events only. It beats the other fields.
	ExecID string `json:"execID,omitempty"`
	// PID is in the host's PID namespace.
	PID int `json:"pid,omitempty"`
	// StartTicks is field 22 of /proc/PID/stat.
	StartTicks uint64 `json:"startTicks,omitempty"`
	// BootID tells one boot's ticks from another's; empty where it is not known.
	BootID string `json:"bootID,omitempty"`
}

// Identified reports whether p can be told from a later process of its number.
func (p Process) Identified() bool {
	return p.ExecID != "" || p.PID > 0 && p.StartTicks > 0
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
	// 0 when unknown or unset.
	SessionID uint32
	// AuditID is the value of KUBERNETES_EXEC_AUDIT_ID in the process's (or an
	// ancestor's) environment: a claim. Empty when absent or not read.
	AuditID string
	// RequestUID is the Security Profiles Operator's join key: a claim.
	RequestUID string
	// FirstImage says that this exec is the first since the process was cloned.
	FirstImage bool
	// ParentOutside says that the agent saw Parent outside of the container.
	ParentOutside bool
	// Command is the command line as text.
	Command string
}
