package sessions

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Mark is the kernel's mark of a session, which every descendant of its first process has, and which nothing without
// CAP_AUDIT_CONTROL in the host's user namespace can change or choose.
type Mark struct {
	// Node is the node's name.
	Node string
	// BootID is /proc/sys/kernel/random/boot_id: the kernel counts sessions from boot.
	BootID string
	// SessionID is /proc/PID/sessionid; 0 and journal.SessionIDUnset say that there is none.
	SessionID uint32
}

// Process is what identifies the session of a process that runs on a node.
type Process struct {
	Mark
	// LoginUID is /proc/PID/loginuid, journal.LoginUIDUnset where it was never set; 0 where it is not known.
	LoginUID uint32
}

// MarkVerdict says whose mark a process has.
type MarkVerdict uint8

// The verdicts of marks.
const (
	// MarkNone: the process has no mark.
	MarkNone MarkVerdict = iota
	// MarkOther: it has one that is not a session's: of a login on the host, or of workloads where all are marked.
	MarkOther
	// MarkRecorded: it has one that its node recorded before the session's first process was started.
	MarkRecorded
	// MarkForged: it gave itself one that looks like the bridge's. Nobody is named.
	MarkForged
)

var markNames = [...]string{"unmarked", "other", "marked", "forged mark"}

// String returns "unmarked", "other", "marked" or "forged mark".
func (v MarkVerdict) String() string {
	if int(v) < len(markNames) {
		return markNames[v]
	}
	return fmt.Sprintf("mark verdict %d", uint8(v))
}

// MarshalText returns String, for JSON.
func (v MarkVerdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Origin is whose process one is.
type Origin struct {
	// Verdict and Why say what the mark is worth.
	Verdict MarkVerdict
	Why     Reason
	// Use is the session's, for MarkRecorded: its Session is zero for a process that was marked without a token.
	Use Use
	// Claimed is the session whose login UID a forged mark has; zero where it has nobody's. It did not do it.
	Claimed bridge.SessionID
}

// Marks finds sessions by the kernel's marks. It is not changed once it is made.
type Marks struct {
	sessions map[Mark][]Use
	logins   map[login]bridge.SessionID
}

type login struct {
	node, bootID string
	uid          uint32
}

// NewMarks returns the index of what nodes recorded. The order of the uses does not matter, nor what is there twice.
// Sessions that a node recorded and whose journal has not arrived are not in it: a process of one is told as forged.
func NewMarks(uses []Use) *Marks {
	m := &Marks{sessions: map[Mark][]Use{}, logins: map[login]bridge.SessionID{}}
	for _, u := range mergeUses(uses) {
		if u.Mark.unset() {
			continue
		}
		m.sessions[u.Mark] = append(m.sessions[u.Mark], u)
		key := login{u.Mark.Node, u.Mark.BootID, u.LoginUID}
		if m.logins[key] == (bridge.SessionID{}) {
			m.logins[key] = u.Session
		}
	}
	return m
}

func (m Mark) unset() bool { return m.SessionID == 0 || m.SessionID == journal.SessionIDUnset }

// Find returns the use that was recorded with the mark, and false for none and for several, which no kernel gives.
func (m *Marks) Find(mark Mark) (Use, bool) {
	if uses := m.sessions[mark]; len(uses) == 1 {
		return uses[0], true
	}
	return Use{}, false
}

// Judge returns whose process one is. The recorded mark decides. A login UID alone, which a process without one may
// choose, only tells a forged mark from others.
//
// Source: BRG-3.
func (m *Marks) Judge(p Process) Origin {
	claimed := m.logins[login{p.Node, p.BootID, p.LoginUID}]
	uses := m.sessions[p.Mark]
	switch {
	case len(uses) > 1:
		return Origin{Verdict: MarkForged, Why: ReasonMarkTwice}
	case len(uses) == 1 && p.LoginUID != 0 && uses[0].LoginUID != 0 && p.LoginUID != uses[0].LoginUID:
		return Origin{Verdict: MarkForged, Why: ReasonMarkLogin, Claimed: claimed}
	case len(uses) == 1:
		return Origin{Verdict: MarkRecorded, Why: ReasonMarkSession, Use: uses[0]}
	case p.unset():
		return Origin{Verdict: MarkNone, Why: ReasonMarkNone}
	case p.LoginUID == bridge.WorkloadLoginUID:
		return Origin{Verdict: MarkOther, Why: ReasonMarkWorkload}
	case p.LoginUID < bridge.MinLoginUID || p.LoginUID > bridge.MaxLoginUID:
		return Origin{Verdict: MarkOther, Why: ReasonMarkOther}
	case claimed != bridge.SessionID{}:
		return Origin{Verdict: MarkForged, Why: ReasonMarkBorrow, Claimed: claimed}
	}
	return Origin{Verdict: MarkForged, Why: ReasonMarkUnknown}
}
