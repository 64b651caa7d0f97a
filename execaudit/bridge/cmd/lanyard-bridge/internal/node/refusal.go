//go:build linux

package node

import (
	"cmp"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// refusalKey tells one refusal from all others.
type refusalKey struct {
	container, exec, reason string
	at                      int64 // nanoseconds since 1970
}

func refusalKeyOf(r journal.Record) refusalKey {
	return refusalKey{r.ContainerID, r.ExecID, r.Reason, r.Time.UnixNano()}
}

// refusal is one whose file is in the spool.
type refusal struct {
	record journal.Record
	name   string
	class  string
	wrote  bool
}

func newRefusal(w spool.WaitingRefusal) *refusal {
	s := sessionOf(w.Where)
	reason := cmp.Or(w.Reason, unknown)
	switch {
	case w.Verified:
		s.ExecSession = w.Session.String()
	case w.Session != bridge.SessionID{}: // anybody can claim one
		reason += " (it claims session " + w.Session.String() + ")"
	}
	r := journal.Refused(s, reason, w.Argv, w.TTY, w.Time)
	r.ArgvTruncated = r.ArgvTruncated || w.ArgvTruncated
	return &refusal{record: r, name: w.Name, class: classOf(w.Reason)}
}

// classes are the words for reasons that have few values, for metrics, and what the wrapper says in each: a token.Fault
// has its own words for some of the package's errors.
var classes = []struct{ word, says string }{
	{"replayed", spool.ErrReplayed.Error()},
	{"expired", token.ErrExpired.Error()},
	{"not_yet", "token not valid"},
	{"unknown_key", "token signed by key"},
	{"signature", "token not signed"},
	{"version", token.ErrVersion.Error()},
	{"malformed", token.ErrMalformed.Error()},
	{"field", token.ErrField.Error()},
	{"keys", token.ErrKey.Error()},
	{"elsewhere", oci.ErrMismatch.Error()},
}

// classBeyond is of refusals that were counted only.
const classBeyond = "beyond"

func classOf(reason string) string {
	for _, c := range classes {
		if strings.Contains(reason, c.says) {
			return c.word
		}
	}
	return "other"
}
