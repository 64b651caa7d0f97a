package token

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// What a Fault unwraps to.
var (
	// ErrMalformed: a text is not a token's.
	ErrMalformed = errors.New("malformed token")
	// ErrVersion: a token of a version that this package does not know.
	ErrVersion = errors.New("unknown token version")
	// ErrUnknownKey: a token signed by a key that is not among those known: one that is new, retired or another's.
	ErrUnknownKey = errors.New("unknown token key")
	// ErrSignature: a token that its key did not sign as it is.
	ErrSignature = errors.New("bad token signature")
	// ErrNotYet: a token from the future, by the clock of the one who verifies.
	ErrNotYet = errors.New("token not valid yet")
	// ErrExpired: a token whose time is over, by the clock of the one who verifies.
	ErrExpired = errors.New("token expired")
	// ErrField: a value that no token may have. Sign says it of what it is given, Verify of what is signed.
	ErrField = errors.New("bad token field")
	// ErrKey: a text is not a key or a list of keys, or there is no key.
	ErrKey = errors.New("bad token key")
)

// Fault is why something is not a token, not a good one, or not a key. It repeats nothing of a token but its version,
// and nothing of a private key.
type Fault struct {
	// Err is one of the package's errors.
	Err error
	// Field is the field in question, such as "pod UID"; else empty.
	Field string
	// Detail says what is wrong; empty where Err says all.
	Detail string
	// Key is the key that the token names, for ErrUnknownKey and ErrSignature.
	Key KeyID
	// By is how far now lies outside of the token's time without regard to skew, for ErrNotYet and ErrExpired.
	By time.Duration
	// Line is the line in a list of keys, counted from 1; else 0.
	Line int
}

// Error returns one line for a person at the node.
func (f *Fault) Error() string {
	switch f.Err {
	case ErrUnknownKey:
		return "token signed by key " + f.Key.String() + ", which is not among this node's keys"
	case ErrSignature:
		return "token not signed as it is by key " + f.Key.String()
	case ErrNotYet:
		return "token not valid for another " + seconds(f.By) + " by this node's clock"
	case ErrExpired:
		return "token expired " + seconds(f.By) + " ago by this node's clock"
	}
	text := f.Err.Error()
	if f.Line != 0 {
		text += fmt.Sprintf(" in line %d", f.Line)
	}
	if what := strings.TrimSpace(f.Field + " " + f.Detail); what != "" {
		text += ": " + what
	}
	return text
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// seconds returns a duration in seconds, rounded up.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d s", (d+time.Second-1)/time.Second)
}
