package attribution

import (
	"encoding"
	"fmt"
)

// Verdict says how much an answer is worth.
type Verdict uint8

// The verdicts.
const (
	// VerdictUnknown: no audit ID, or one without an audit event.
	VerdictUnknown Verdict = iota
	// VerdictPlaceholder: the session's API server had no audit ID.
	VerdictPlaceholder
	// VerdictHint: an audit ID that nothing contradicts and nothing supports either.
	VerdictHint
	// VerdictConflicting: the evidence contradicts itself; somebody forged or reused an ID.
	VerdictConflicting
	// VerdictCorroborated: the kernel's audit session is one that a journal recorded, or an unbroken chain of processes,
	// none of doubtful identity, leads to a journal's first process; and the session's pod, container and time agree with
	// the one request of its ID.
	VerdictCorroborated
)

var verdictNames = [...]string{"unknown", "placeholder", "hint", "conflicting", "corroborated"}

// String returns the verdict in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// MarshalText returns String, for JSON.
func (v Verdict) MarshalText() ([]byte, error) {
	return []byte(v.String()), nil
}

// UnmarshalText is the inverse of MarshalText.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("verdict %q is not one of %q", text, verdictNames)
}

var (
	_ encoding.TextMarshaler   = Verdict(0)
	_ encoding.TextUnmarshaler = (*Verdict)(nil)
)

// Reason says why a verdict is what it is. The text is for people; programs compare with the constants.
type Reason string

// The reasons.
const (
	ReasonKernel        Reason = "the kernel's audit session is the session's"
	ReasonKernelSpoofed Reason = "the kernel's audit session is the session's, though the process claims another ID"
	ReasonChain         Reason = "unbroken chain to the session's first process"
	ReasonNoID          Reason = "no audit ID, and no session above it"
	ReasonSessionNoID   Reason = "the session started without an audit ID"
	ReasonNoAudit       Reason = "no audit event has this ID"
	ReasonPlaceholder   Reason = "the API server had no audit ID"
	ReasonNoChain       Reason = "the ID alone: no unbroken chain to a session's first process"
	ReasonEvicted       Reason = "evidence was evicted to stay within the memory bound"
	ReasonEarly         Reason = "answered before its window had passed, to stay within the memory bound"
	ReasonNoPod         Reason = "nothing says in which pod the process ran"
	ReasonSpoofed       Reason = "the process claims another ID than its session has"
	ReasonInvented      Reason = "the process claims an ID, its session has none"
	ReasonReused        Reason = "several requests have this ID"
	ReasonManyRoots     Reason = "several sessions on the node carry this ID"
	ReasonRefused       Reason = "the request with this ID was refused, or was never upgraded to a session"
	ReasonPod           Reason = "the audit event is for another pod"
	ReasonContainer     Reason = "the audit event is for another container"
	ReasonTime          Reason = "the time does not fit the audit event's"
	ReasonTwoClaims     Reason = "the process and its ancestors claim different IDs"
	ReasonEdge          Reason = "the way up to a session leads out of the process's container"
	ReasonWeak          Reason = "on the way up to a session, a process is not identified for certain"
	ReasonLoginUID      Reason = "the login UID alone, which a process can set"
	ReasonOtherSession  Reason = "the kernel's audit session is another than that of the process's tree"
	ReasonNoNode        Reason = "nothing says on which node the process ran"
	ReasonNoUser        Reason = "the audit event names no user"
	ReasonFirstStage    Reason = "only the first stage of the audit event is known, which does not say who is impersonated"
)
