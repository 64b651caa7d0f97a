package attribution

import "time"

// Phase is which of a session's records a Record is.
type Phase uint8

// The phases, in the order in which a runtime writes them.
const (
	PhaseIntent Phase = iota
	PhaseStart
	PhaseEnd
)

// Record is one record of a runtime's exec journal. It is evidence: the process
// cannot write there.
type Record struct {
	Phase Phase
	// Time is when it happened: of an end, when Process was seen to have exited.
	Time time.Time
	// Node, ContainerID and ExecID identify the runtime's session.
	Node, ContainerID, ExecID string
	// AuditID is what reached the runtime; empty when nothing did.
	AuditID string
	// ExecSession is a bridge's ID of the session; empty without a bridge.
	ExecSession string
	// Namespace, Pod and Container are Kubernetes names.
	Namespace, Pod, Container string
	// Process is the session's first process; of an intent, at most the boot ID
	// that goes with its SessionID.
	Process Process
	// SessionID is the kernel's audit session ID of Process and its descendants;
	// with Node and Process.BootID it marks the session. 0 when none is recorded.
	SessionID uint32
	// LoginUID was set together with SessionID; 0 when none is recorded.
	LoginUID uint32
	// Lost says of an end that its time is not the process's, since nobody was there to see it in time: another process
	// may have had its PID before.
	Lost bool
	// Command is the command line, in an intent; of one over 4 KiB, the words up to there.
	Command []string
}
