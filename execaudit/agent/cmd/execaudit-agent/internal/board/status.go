package board

import "time"

// Status is what the agent says of itself.
type Status struct {
	Node    string    `json:"node"`
	Version string    `json:"version"`
	BootID  string    `json:"bootID"`
	Started time.Time `json:"started"`
	// Mode is "ebpf" or "connector"; ModeReason says why it is not the first.
	Mode       string `json:"mode"`
	ModeReason string `json:"modeReason,omitempty"`
	// Pinned says that the kernel keeps what happens while the agent is away.
	Pinned bool `json:"pinned"`
	// Blind is what cannot be seen, for people; empty where nothing is known to be missing.
	Blind []string `json:"blind,omitempty"`
	// Events are those written, by kind; Runtime of them are the runtime's own processes'.
	Events  map[string]uint64 `json:"events"`
	Runtime uint64            `json:"runtime"`
	// Lost are the events that are missing, at most, by reason; Gaps is how often some were, an unknown number included.
	Lost map[string]uint64 `json:"lost"`
	Gaps uint64            `json:"gaps"`
	// LastGap is when some were missing last.
	LastGap *time.Time `json:"lastGap,omitempty"`
	// Forged are marks that no record of the node has.
	Forged uint64 `json:"forged"`
	// Sessions and Processes are those that are alive; Held are events that wait for their session's record.
	Sessions  int `json:"sessions"`
	Processes int `json:"processes"`
	Held      int `json:"held"`
	// RingBytes is the size of the kernel's buffer, RingUsed how much of it is not read yet.
	RingBytes uint64 `json:"ringBytes,omitempty"`
	RingUsed  uint64 `json:"ringUsed,omitempty"`
	// Journal is the journal's path, JournalError why it cannot be read.
	Journal      string `json:"journal"`
	JournalError string `json:"journalError,omitempty"`
	// Output is the file of events, or -; OutputError is why it cannot be written, while that is so.
	Output      string `json:"output"`
	OutputError string `json:"outputError,omitempty"`
	// Capabilities are those that the agent has now.
	Capabilities []string `json:"capabilities"`
}

// recent is how long a gap makes an agent one that loses events.
const recent = 10 * time.Minute

// Faults say what is wrong now, for people: the agent is blind, loses events, or cannot write. Without any it is well.
func (s *Status) Faults(now time.Time) (out []string) {
	if s.Mode != ModeEBPF {
		why := "the agent does not use eBPF"
		if s.ModeReason != "" {
			why += ": " + s.ModeReason
		}
		out = append(out, why)
	}
	for _, what := range s.Blind {
		out = append(out, "blind: "+what)
	}
	if s.LastGap != nil && now.Sub(*s.LastGap) < recent {
		out = append(out, "events were lost in the last "+recent.String())
	}
	if s.JournalError != "" {
		out = append(out, "the journal cannot be read: "+s.JournalError)
	}
	if s.OutputError != "" {
		out = append(out, "events cannot be written: "+s.OutputError)
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
	// Since is the first event of the session that the agent saw; Earlier says that it began before.
	Since   time.Time `json:"since"`
	Earlier bool      `json:"earlier,omitempty"`
	// Processes are those that are alive; Executed counts commands.
	Processes int    `json:"processes"`
	Executed  uint64 `json:"executed"`
	// Command is the newest, of process PID, begun at Newest. Arguments are as the configuration has them told.
	Command string    `json:"command"`
	PID     int       `json:"pid"`
	Newest  time.Time `json:"newest"`
}

// Snapshot is the node as it is now.
type Snapshot struct {
	Time   time.Time `json:"time"`
	Status Status    `json:"status"`
	// Sessions are in the order of Since, then SessionID.
	Sessions []Session `json:"sessions"`
	// Unlisted counts events of processes and sessions beyond those that the agent lists. They are written all the same.
	Unlisted uint64 `json:"unlisted,omitempty"`
}
