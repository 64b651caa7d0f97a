package journal

import "time"

// Version is the version of the records that this package writes and the only
// one it reads. It changes when a field or a kind that is there means something
// else or goes. New fields and new kinds come without a new version: readers skip
// a field that they do not know, and pass over a record of a kind that they do
// not know (a *Fault whose Field is "kind").
const Version = 1

// Kind says which of a session's records one is.
type Kind string

// The kinds. A session writes an intent, a start and an end, in this order; a refusal is all that one has.
const (
	// KindIntent: a process is about to be started. Durable before it is.
	KindIntent Kind = "intent"
	// KindStart: it was started; it has a PID and a start time.
	KindStart Kind = "start"
	// KindEnd: it ended, or never started, or was lost sight of. That is the session's first process: those that it
	// left behind may go on, and have its SessionID still. Its Time is when the process was seen to have exited, taken
	// before it was reaped: up to then no other process has its PID. With a Reason it is not: the writer did not see
	// the exit in time, and another process may have had the PID before Time.
	KindEnd Kind = "end"
	// KindRefusal: it was asked for and refused on the node. Nothing was started, and nothing will be.
	KindRefusal Kind = "refusal"
)

// Session identifies one exec session. Every record repeats it.
type Session struct {
	// Node is the node's name.
	Node string `json:"node"`
	// ContainerID is the CRI container ID, without a scheme.
	ContainerID string `json:"containerID"`
	// ExecID is the runtime's own ID of the session, unique in the container.
	ExecID string `json:"execID"`
	// AuditID is the value of KUBERNETES_EXEC_AUDIT_ID as it reached the
	// runtime; empty when none did.
	AuditID string `json:"auditID,omitempty"`
	// ExecSession is the value of LANYARD_EXEC_SESSION, by which a bridge
	// identifies the session where the runtime has no audit ID; empty without one.
	ExecSession string `json:"execSession,omitempty"`
	// SandboxID is the CRI pod sandbox ID.
	SandboxID string `json:"sandboxID,omitempty"`
	// Namespace, Pod, PodUID and Container are the pod's and the container's
	// Kubernetes names, from the sandbox's and container's metadata.
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	PodUID    string `json:"podUID,omitempty"`
	Container string `json:"container,omitempty"`
}

// Process is one process on a node: what identifies it for good, and the kernel's
// mark of the session that it belongs to.
type Process struct {
	// PID is the process ID in the host's PID namespace.
	PID int `json:"pid,omitempty"`
	// StartTicks is when it started, in clock ticks since the machine booted:
	// field 22 of /proc/PID/stat. With the PID it tells a process from a later
	// one of the same number.
	StartTicks uint64 `json:"startTicks,omitempty"`
	// BootID is /proc/sys/kernel/random/boot_id, which tells one boot's ticks
	// from another's; empty where the system has none.
	BootID string `json:"bootID,omitempty"`
	// SessionID is the kernel's audit session ID of the process, /proc/PID/sessionid.
	// Every descendant has the same, unless one with CAP_AUDIT_CONTROL sets a login
	// UID. It is unique in a boot: the kernel counts from 1. 0 says that none is
	// recorded. The kernel's own word for none, SessionIDUnset, is never written.
	//
	// Who records it must have had it set for this session alone, or have seen that it
	// was: readers take every process that has it for this session's. One that the
	// process only inherited, as from a runtime that was started in a login session,
	// marks every process that the runtime starts, and is not recorded.
	SessionID uint32 `json:"sessionID,omitempty"`
	// LoginUID is /proc/PID/loginuid, which is set together with SessionID: a hint to search by, no evidence, since
	// a process that has none may set any. 0 says that none is recorded; LoginUIDUnset is never written.
	LoginUID uint32 `json:"loginUID,omitempty"`
}

// LoginUIDUnset is what /proc/PID/loginuid shows for a process whose login UID was never set. The builders leave it
// out, and Record.Validate refuses it.
const LoginUIDUnset = 1<<32 - 1

// SessionIDUnset is what /proc/PID/sessionid shows for a process whose login UID was never set. It marks no
// session, since all such processes have it: the builders leave it out, and Record.Validate refuses it.
const SessionIDUnset = 1<<32 - 1

// Record is one line of a journal. Intent, Marked, Start, End, Lost and Refused make them.
type Record struct {
	// Version is Version.
	Version int `json:"version"`
	// Kind says which fields below are set.
	Kind Kind `json:"kind"`
	// Time is when it happened by the wall clock of the node, in UTC with nanoseconds; not when it was written, which
	// may be later. So records need not be in the order of their times. From a start's to that of an end without a
	// Reason the process has its PID.
	Time time.Time `json:"time"`
	Session
	Process
	// Argv is the command line, in an intent and in a refusal.
	Argv []string `json:"argv,omitempty"`
	// ArgvTruncated says that Argv was cut at MaxArgvBytes or MaxArgs.
	ArgvTruncated bool `json:"argvTruncated,omitempty"`
	// TTY says whether the session has a terminal, in an intent and in a refusal.
	TTY bool `json:"tty,omitempty"`
	// ExitCode is the exit code, in an end; nil when it is not known.
	ExitCode *int `json:"exitCode,omitempty"`
	// Reason says, in an end, why the exit code is not known, or why Time is later than the exit; in a refusal, why the
	// session was refused.
	Reason string `json:"reason,omitempty"`
}

// SessionKey finds the records of one session.
type SessionKey struct {
	// Node, ContainerID and ExecID are Session's.
	Node, ContainerID, ExecID string
}

// SessionKey returns the key that this session's records share.
func (s Session) SessionKey() SessionKey {
	return SessionKey{Node: s.Node, ContainerID: s.ContainerID, ExecID: s.ExecID}
}

// ProcessKey finds the session whose first process is this one.
type ProcessKey struct {
	// Node is Session's.
	Node string
	// PID, StartTicks and BootID are Process's.
	PID        int
	StartTicks uint64
	BootID     string
}

// ProcessKey returns the key of the session's process and true, or false for a
// record without a process: an intent, a refusal, and the end of one that never started.
func (r Record) ProcessKey() (ProcessKey, bool) {
	return ProcessKey{Node: r.Node, PID: r.PID, StartTicks: r.StartTicks, BootID: r.BootID}, r.PID > 0
}
