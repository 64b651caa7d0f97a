package join

import (
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// judged is of how many times the median counts.
const judged = 9

// idleTicks is how many ticks without anything end the catching up of a source. Fewer may follow each other closely, where
// a program was not let run for long.
const idleTicks = 3

// stream is how far a source has come that may go on for ever.
type stream struct {
	held   *lines.Batch // not added yet
	at     time.Time    // how far it has come; where something is held, to the beginning of that
	recent []time.Time  // the last times, in the order in which they came
	ended  bool

	came   bool      // something came since the last tick
	idle   int       // ticks in which nothing came, since something did
	behind bool      // it catches up with its past, or nobody knows yet
	before time.Time // at, when something had come last
	ticked time.Time // the tick that was then
}

// tick says that it is now.
func (s *stream) tick(now time.Time) {
	if s.came {
		if !s.ticked.IsZero() {
			s.behind = s.at.Sub(s.before) > 2*now.Sub(s.ticked)
		}
		s.before, s.ticked = s.at, now
	}
	if s.idle++; s.came {
		s.idle = 0
	}
	s.came = false
	s.behind = s.held != nil || s.behind && s.idle < idleTicks
}

// waitedFor reports whether others that are ahead wait.
func (s *stream) waitedFor() bool {
	return s.held != nil || s.behind && !s.ended && !s.at.IsZero()
}

// reached returns up to when the source has told what it has, at a time now; false if that is not to be waited for.
func (s *stream) reached(now time.Time) (time.Time, bool) {
	switch {
	case s.ended && s.held == nil:
		return time.Time{}, false
	case s.behind || s.held != nil:
		return s.at, true
	case s.idle == 0 || s.came:
		return latest(s.at, now.Add(-leap)), true
	}
	return time.Time{}, false
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// begin goes to the beginning of a batch, or where nothing is in it to its time.
func (s *stream) begin(b *lines.Batch) {
	s.came = true
	if size(b) == 0 {
		s.note(b.At)
	}
	for i := range min(size(b), judged) {
		s.note(timeOf(b, i))
	}
	s.settle()
}

// end goes to the end of a batch.
func (s *stream) end(b *lines.Batch) {
	for i := max(min(size(b), judged), size(b)-judged); i < size(b); i++ {
		s.note(timeOf(b, i))
	}
	s.settle()
}

func (s *stream) note(t time.Time) {
	if t.IsZero() {
		return
	}
	if len(s.recent) == judged {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.recent = append(s.recent, t)
}

// settle takes the lower median. One time alone may be wrong.
func (s *stream) settle() {
	if len(s.recent) < 2 {
		return
	}
	sorted := slices.Clone(s.recent)
	slices.SortFunc(sorted, time.Time.Compare)
	s.at = sorted[(len(sorted)-1)/2]
}
