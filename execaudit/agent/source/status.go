package source

import (
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// Status is what a Source is about.
type Status struct {
	Node, BootID string
	// Origin is how observations are made; Since, from when on. It is zero before Run.
	Origin agent.Origin
	Since  time.Time
	// Blind are things that cannot be seen, in sentences for people.
	Blind []string
	// Tracker are the Tracker's counts, Reader the Reader's, as of the last second.
	Tracker agent.Counts
	Reader  Counters
	// Told of Read observations of the Reader are with the outputs.
	Read, Told uint64
	// Journals and Outputs are in the order of Options.
	Journals []JournalStatus
	Outputs  []OutputStatus
	// Trouble is the last error that ended nothing, "" for none. It is for people.
	Trouble string
}

// Status returns the present one.
func (s *Source) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Node: s.options.Node, BootID: s.boot, Origin: s.options.Origin, Since: s.began, Blind: slices.Clone(s.blind),
		Tracker: s.tracker.Counts(),
		Reader:  s.reading, Read: s.ledger.told + uint64(len(s.ledger.done)-s.ledger.head), Told: s.told, Trouble: s.trouble,
	}
	for _, path := range s.options.Journals {
		j := s.journalStates[path]
		j.Path = path
		st.Journals = append(st.Journals, j)
	}
	for _, p := range s.pumps {
		st.Outputs = append(st.Outputs, p.state())
	}
	return st
}

// Sessions returns the sessions that are known to have live processes, the newest first.
func (s *Source) Sessions() []agent.SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracker.Sessions()
}
