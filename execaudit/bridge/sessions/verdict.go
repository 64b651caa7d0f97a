package sessions

import (
	"fmt"
	"slices"
)

// Verdict says what is known of a session. More evidence raises it, so the constants are in that order: an audit event
// or a use that is added never leads to a lower one, and nothing undoes a conflict. Time alone lowers one, to unused.
type Verdict uint8

// The verdicts.
const (
	// VerdictForged: its token was used, and neither a record nor an audit event knows it. Nobody is named.
	VerdictForged Verdict = iota
	// VerdictUnused: a token was signed, it is expired, and no node says that it was used.
	VerdictUnused
	// VerdictAdmitted: a record alone, by whoever called the webhook.
	VerdictAdmitted
	// VerdictCorroborated: an audit event of the API server's, and nothing that contradicts it.
	VerdictCorroborated
	// VerdictRefused: the webhook refused the request, and nothing was used.
	VerdictRefused
	// VerdictConflicting: the evidence contradicts itself. Nobody is named, but for ReasonRequests, where all of it names
	// one user.
	VerdictConflicting
)

var verdictNames = []string{"forged", "unused", "admitted", "corroborated", "refused", "conflicting"}

// String returns the verdict in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// MarshalText returns String, for JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames, string(text))
	if i < 0 {
		return fmt.Errorf("verdict %q is not one of %q", text, verdictNames)
	}
	*v = Verdict(i)
	return nil
}

// Reason says why a verdict is what it is. The text is for people; programs compare with the constants.
type Reason string

// The reasons of a Session's verdict.
const (
	ReasonNeither      Reason = "used, and neither a session record nor an audit event knows it"
	ReasonExpired      Reason = "its token expired, and no node says that it was used"
	ReasonRecord       Reason = "a session record, and no audit event yet"
	ReasonAudit        Reason = "an audit event of the API server"
	ReasonRefused      Reason = "the webhook refused it"
	ReasonUsers        Reason = "the evidence names several users"
	ReasonRequests     Reason = "several requests of one user have this session ID"
	ReasonPlace        Reason = "the evidence names several pods, containers or nodes"
	ReasonUses         Reason = "it was used more than once"
	ReasonNoToken      Reason = "used, and the webhook says that it signed no token"
	ReasonMarkSession  Reason = "the kernel's session that a node recorded"
	ReasonMarkNone     Reason = "no login UID was ever set"
	ReasonMarkWorkload Reason = "the login UID of workloads, which belong to no session"
	ReasonMarkOther    Reason = "a login UID outside of the bridge's range"
	ReasonMarkBorrow   Reason = "the login UID of a session, in another session of the kernel's"
	ReasonMarkUnknown  Reason = "a login UID of the bridge's range that no node recorded"
	ReasonMarkLogin    Reason = "a recorded session of the kernel's, with another login UID"
	ReasonMarkTwice    Reason = "several sessions are recorded with this mark"
)
