package board

import "time"

// Status is what the agent says of itself.
type Status struct {
	Node    string    `json:"node"`
	Version string    `json:"version"`
	BootID  string    `json:"bootID"`
	Started time.Time `json:"started"`
	// Mode is "ebpf" or "connector".
	Mode string `json:"mode"`
	// Pinned says that the kernel keeps what happens while the agent is away.
	Pinned bool `json:"pinned"`
	// Blind is what cannot be seen, for people; empty where nothing is known to be missing.
	Blind []string `json:"blind,omitempty"`
	// Events are those written, by kind; Runtime of them are the runtime's own processes'.
	Events  map[string]uint64 `json:"events"`
	Runtime uint64            `json:"runtime"`
	// Notices are those written, by kind: "forged" are marks that no record of the node has, "left" processes that left
	// their session's mark, "lost" is how often events were missing.
	Notices map[string]uint64 `json:"notices"`
	// Lost are the events that are missing, at most, by reason. One of unknown number counts as none here.
	Lost map[string]uint64 `json:"lost"`
	// LastGap is when some were missing last.
	LastGap *time.Time `json:"lastGap,omitempty"`
	// Sessions and Processes are those that are alive; Held are events that wait for their session's record; Waiting are
	// the bytes that wait for the output.
	Sessions  int `json:"sessions"`
	Processes int `json:"processes"`
	Held      int `json:"held"`
	Waiting   int `json:"waiting"`
	// Evicted are sessions and processes that were forgotten before their end, since there were too many.
	Evicted int `json:"evicted"`
	// RingBytes is the size of the kernel's buffer; 0 without one.
	RingBytes int `json:"ringBytes,omitempty"`
	// Journal is the journal's path, JournalError why it cannot be read.
	Journal      string `json:"journal"`
	JournalError string `json:"journalError,omitempty"`
	// Trouble is the last error that ended nothing, such as a record that cannot be read.
	Trouble string `json:"trouble,omitempty"`
	// Output is the file of events, or -; OutputError is why it cannot be written, and RotationError why it cannot be
	// rotated, while that is so.
	Output        string `json:"output"`
	OutputError   string `json:"outputError,omitempty"`
	RotationError string `json:"rotationError,omitempty"`
	// Capabilities are those that the agent has now.
	Capabilities []string `json:"capabilities"`
}

// recent is how long a gap makes an agent one that loses events.
const recent = 10 * time.Minute

// Faults say what is wrong now, for people: the agent is blind, loses events, or cannot write. Without any it is well.
func (s *Status) Faults(now time.Time) (out []string) {
	if s.Mode != ModeEBPF {
		out = append(out, "the agent does not see by eBPF")
	}
	for _, what := range s.Blind {
		out = append(out, "blind: "+what)
	}
	if s.LastGap != nil && now.Sub(*s.LastGap) < recent {
		out = append(out, "events were lost in the last "+recent.String())
	}
	if s.Evicted > 0 {
		out = append(out, "there were more sessions or processes at once than the agent may remember")
	}
	if s.JournalError != "" {
		out = append(out, "the journal cannot be read: "+s.JournalError)
	}
	if s.OutputError != "" {
		out = append(out, "events cannot be written: "+s.OutputError)
	}
	if s.RotationError != "" {
		out = append(out, "the file of events cannot be rotated: "+s.RotationError)
	}
	return out
}

// The modes.
const (
	ModeEBPF      = "ebpf"
	ModeConnector = "connector"
)

// Session is one session with a process that is alive.
type Session struct {
	// SessionID and LoginUID are the kernel's mark.
	SessionID uint32 `json:"sessionID"`
	LoginUID  uint32 `json:"loginUID"`
	// ExecSession and AuditID are the session's IDs, by the node's journal; Known says that it has the session.
	ExecSession string `json:"execSession,omitempty"`
	AuditID     string `json:"auditID,omitempty"`
	Known       bool   `json:"known"`
	Namespace   string `json:"namespace,omitempty"`
	Pod         string `json:"pod,omitempty"`
	Container   string `json:"container,omitempty"`
	ContainerID string `json:"containerID,omitempty"`
	// Since is when the session's first program was seen; zero before that.
	Since time.Time `json:"since"`
	// PID is the session's first process, 0 before it is known; Processes are those that are alive.
	PID       int `json:"pid,omitempty"`
	Processes int `json:"processes"`
	// Command is the newest, with arguments as the configuration has them told; Last is the newest event's time.
	Command string    `json:"command"`
	Last    time.Time `json:"last"`
}

// Snapshot is the node as it is now.
type Snapshot struct {
	Time   time.Time `json:"time"`
	Status Status    `json:"status"`
	// Sessions are in the order of Since, then SessionID.
	Sessions []Session `json:"sessions"`
}
