package agent

import (
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

// Kind is what a process did.
type Kind uint8

// The kinds of observations.
const (
	// KindFork is a process that came to be; it runs its parent's image.
	KindFork Kind = iota
	// KindExec is a process that began to run a program.
	KindExec
	// KindExit is a process whose last thread is gone.
	KindExit
)

// Origin is how an observation was made.
type Origin uint8

// The origins, from the surest.
const (
	// OriginKernel: an eBPF program saw it happen.
	OriginKernel Origin = iota
	// OriginConnector: the kernel's proc connector told it, and /proc was read right after.
	OriginConnector
	// OriginWalk: the process ran before the agent did, and was found in /proc. Of what it did before nothing is known.
	OriginWalk
)

// The login UIDs by which a runtime or a bridge marks exec sessions, as lanyard-oci does.
const (
	MinLoginUID = 2013265920
	MaxLoginUID = 2147483646
)

// Task is a process of the node.
type Task struct {
	// PID is in the host's PID namespace.
	PID int
	// Start is when it was cloned, since the machine booted, suspension included; 0 when unknown.
	Start time.Duration
}

// Observation is one thing that the kernel told of one process.
type Observation struct {
	Kind   Kind
	Origin Origin
	// At is when it happened, since the machine booted, suspension included.
	At time.Duration
	// CPU and Sequence number what the program of this Kind told on one CPU, from 1 when the programs were first loaded;
	// Sequence is 0 for other origins.
	CPU      int
	Sequence uint64
	// Again says that an earlier reader was given it already, and ended before it had told it, as far as the kernel knows:
	// it may have been told.
	Again bool
	// Number is for who puts a reader and a Tracker together; it is not told.
	Number uint64

	Task
	// Parent made the process: who called clone, whatever CLONE_PARENT says. Zero when the fork was not seen.
	Parent Task
	// SessionID and LoginUID are the kernel's mark, /proc/PID/sessionid and loginuid.
	SessionID, LoginUID uint32
	// InnerPID is the PID in the process's own PID namespace; 0 when unknown.
	InnerPID int
	// CgroupID is the cgroup's: on cgroup v2 its ID there, on v1 that of its directory in the pids (else the memory)
	// hierarchy. Cgroup is its path; empty when it is to be looked up by the ID.
	CgroupID uint64
	Cgroup   string
	// MountNS and PIDNS are the namespaces' inode numbers; 0 when unknown.
	MountNS, PIDNS uint32
	// UID, GID, EUID and EGID are in the host's user namespace.
	UID, GID, EUID, EGID uint32

	// File, Args and Env are an exec's: the path given to execve, and the beginnings of arguments and environment as the
	// kernel laid them out, each string followed by a NUL. ArgsCut says that there are more arguments. They are the
	// reader's buffer: Tracker.Observe copies what it keeps.
	File    string
	Args    redact.Bytes
	Env     redact.Bytes
	ArgsCut bool
	// Status is an exit's, as wait(2) gives it; -1 when unknown.
	Status int
}
