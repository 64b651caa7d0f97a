package bridge

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// SessionName is the variable that carries the session's ID. KEP-6035's own variable is for a real audit ID alone.
const SessionName = "LANYARD_EXEC_SESSION"

// Webhook is the name of the mutating webhook, and so the prefix of what its answers add to audit events.
const Webhook = "exec.lanyard.dev"

// Keys of the audit annotations; in an audit event each stands behind [Webhook] and a slash.
const (
	// AuditSession is the session's ID, as in [SessionName].
	AuditSession = Webhook + "/session"
	// AuditNode is the node that the token was signed for; absent where none was.
	AuditNode = Webhook + "/node"
	// AuditOutcome is what the webhook did: an [Outcome], and behind ": " why.
	AuditOutcome = Webhook + "/outcome"
)

// Outcome is what the webhook did with a request.
type Outcome string

// The outcomes.
const (
	// OutcomeMarked: the command has a token; the node will mark the session.
	OutcomeMarked Outcome = "marked"
	// OutcomeUnmarked: the session goes on without a mark.
	OutcomeUnmarked Outcome = "unmarked"
	// OutcomeRecorded: an attach or a port-forward, which start no process.
	OutcomeRecorded Outcome = "recorded"
	// OutcomeHint: an ephemeral container, which has the variable in its specification.
	OutcomeHint Outcome = "hint"
	// OutcomeRefused: the request was refused.
	OutcomeRefused Outcome = "refused"
)

// MarkAnnotation on a pod, or as a label on its namespace, with the value "off": its sessions get the variable and a
// record, and no mark of the kernel's (for containers in which sshd, cron or login start sessions of their own).
const MarkAnnotation = "bridge.lanyard.dev/mark"

// MarkOff is the value of [MarkAnnotation] that opts out.
const MarkOff = "off"

// The range of login UIDs that the bridge gives: positive as 32 bits, and beyond those of directory services.
const (
	MinLoginUID = 2013265920
	MaxLoginUID = 2147483646
)

// WorkloadLoginUID marks processes that belong to no session, where all are marked so that none can mark itself. It is
// one for all and below the sessions' range: no session has it, and a search for sessions by login UID finds none of
// them.
const WorkloadLoginUID = MinLoginUID - 1

// SessionID identifies one exec session. The zero value is none.
type SessionID [16]byte

// ErrBadSessionID: a text is not a session ID.
var ErrBadSessionID = errors.New("bad session ID")

// NewSessionID returns a random one, a UUID of version 4.
func NewSessionID() SessionID {
	var id SessionID
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// ParseSessionID returns the ID that String wrote, 36 characters in lower case. Its error is [ErrBadSessionID].
func ParseSessionID(text string) (SessionID, error) {
	var id SessionID
	if len(text) != 36 {
		return SessionID{}, ErrBadSessionID
	}
	digits := text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil || id.String() != text {
		return SessionID{}, ErrBadSessionID
	}
	return id, nil
}

// String returns the ID as a UUID is written.
func (id SessionID) String() string {
	text := hex.EncodeToString(id[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// LoginUID returns the login UID that marks the session, from [MinLoginUID] to [MaxLoginUID]: always the same for one
// session, and not unique, since there are fewer of them than sessions.
func (id SessionID) LoginUID() uint32 {
	return MinLoginUID + uint32(binary.BigEndian.Uint64(id[8:])%(MaxLoginUID-MinLoginUID+1))
}
