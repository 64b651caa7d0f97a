package admission

import (
	"cmp"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Recorder keeps session records. It is called by many goroutines at once.
type Recorder interface {
	// Record returns when the record is kept, or why it cannot be: see [Policy.Unrecorded].
	Record(sessions.Record) error
}

// recordOf returns what is written down of a decision.
func recordOf(in Input, d Decision) sessions.Record {
	r := in.Request
	return sessions.Record{
		Session: d.Session, RequestUID: r.UID, Time: in.Now, User: r.User,
		Namespace: r.Namespace, Pod: r.Name, PodUID: d.Target.PodUID,
		Container: cmp.Or(d.Target.Container, r.Container), Node: d.Node,
		Command: withoutTokens(d.Command), TTY: r.TTY, Source: r.Source,
		Outcome: d.Outcome, Reason: d.Reason, Expiry: d.Expiry,
	}
}

// redacted stands in a record for an element of a refused command that holds something like a token: it may be one that
// is good still.
const redacted = token.Prefix + "[redacted]"

func withoutTokens(command []string) []string {
	if !slices.ContainsFunc(command, token.Like) {
		return command
	}
	command = slices.Clone(command)
	for i, element := range command {
		if token.Like(element) {
			command[i] = redacted
		}
	}
	return command
}
