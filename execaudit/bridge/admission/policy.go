package admission

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// DefaultLifetime is how long a token is good.
const DefaultLifetime = time.Minute

// Choice is what a policy does where something is missing.
type Choice string

// The choices.
const (
	ChoiceAllow  Choice = "allow"
	ChoiceRefuse Choice = "refuse"
)

// Policy is what the webhook is configured to do. The zero value lets execs go on unmarked, and none go on unrecorded.
type Policy struct {
	// Unready is for an exec that no token can be signed for; empty is [ChoiceAllow]: the session goes on, unmarked.
	Unready Choice
	// Unrecorded is for a session whose record cannot be written; empty is [ChoiceRefuse]: a token without a record
	// would later be told as forged where nobody has the audit log.
	Unrecorded Choice
	// Lifetime is that of tokens, at most token.MaxLifetime; zero is [DefaultLifetime].
	Lifetime time.Duration
}

func (p Policy) lifetime() time.Duration {
	if p.Lifetime <= 0 {
		return DefaultLifetime
	}
	return min(p.Lifetime, token.MaxLifetime)
}
