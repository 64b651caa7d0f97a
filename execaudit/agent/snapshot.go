package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// SessionState is a session as it is now.
type SessionState struct {
	// SessionID and LoginUID are the mark.
	SessionID, LoginUID uint32
	// Session is of the journal, nil for a mark that no record has. It must not be changed.
	Session *journal.Session
	// Process is the session's first, zero before it is known; Began is when it was seen to run a program first.
	Process attribution.Process
	Began   time.Time
	// Processes are alive, the runtime's included.
	Processes int
	// Command is the newest command line, as Options.Args tells it; Last is the time of the newest event.
	Command string
	Last    time.Time
}

// Sessions returns the sessions that have live processes, and the marks that no record has, the newest first.
func (t *Tracker) Sessions() []SessionState {
	var all []SessionState
	for _, m := range t.marks {
		if m.live == 0 {
			continue
		}
		s := SessionState{
			SessionID: m.session, LoginUID: m.login, Session: m.record, Processes: m.live, Command: m.command, Last: m.last,
			Began: m.began,
		}
		if m.conflict {
			s.Session = nil
		}
		if m.begun {
			s.Process = t.process(m.first)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b SessionState) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(b.SessionID, a.SessionID))
	})
	return all
}
