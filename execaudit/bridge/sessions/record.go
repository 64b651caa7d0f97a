package sessions

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Version is the version of the records that Encode writes, and the only one that Read takes. New fields come without
// a new version.
const Version = 1

// Source is what a session was asked for with.
type Source string

// The sources.
const (
	SourceExec               Source = "exec"
	SourceAttach             Source = "attach"
	SourcePortForward        Source = "port-forward"
	SourceEphemeralContainer Source = "ephemeral container"
)

// Record is what the webhook writes down of one request.
type Record struct {
	// Session is the session's ID; required.
	Session bridge.SessionID
	// RequestUID is the review's, another one each time that the webhook is called for one request.
	RequestUID string
	// Time is the webhook's clock; required.
	Time time.Time
	// User asked, as the API server said it: where somebody is impersonated, that one.
	User token.User
	// UserCut says that User did not fit into its bounds.
	UserCut bool
	// Namespace and Pod are the pod's names, PodUID the one that its node knows (token.PodUID).
	Namespace, Pod, PodUID string
	// Container and Node are names; Node is empty where no token was signed.
	Container, Node string
	// Command is what was asked for, without the token.
	Command []string
	// CommandCut says that Command did not fit into its bounds.
	CommandCut bool
	// TTY says whether the session has a terminal.
	TTY bool
	// Source is what was asked for with; required.
	Source Source
	// Outcome is what the webhook did, and Reason why, as its audit annotation says it; Outcome is required.
	Outcome bridge.Outcome
	Reason  string
	// Expiry is the token's; zero where none was signed.
	Expiry time.Time
}

// Bounds of what a record keeps of texts that a caller chose. What is longer is cut at the border of a character.
const (
	// MaxArgs and MaxArgvBytes bound a command; they are the journal's.
	MaxArgs      = 4096
	MaxArgvBytes = 64 << 10 // 64 KiB
	// MaxTextBytes bounds each other text, a user's name among them.
	MaxTextBytes = 1 << 10 // 1 KiB
	// MaxUserTexts and MaxUserBytes bound the groups of a user, and once more keys and values of the extra.
	MaxUserTexts = 4096
	MaxUserBytes = 64 << 10 // 64 KiB
)
