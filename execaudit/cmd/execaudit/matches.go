package main

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// maxPrinted is how many printed answers are remembered for their corrections; about 10 MB.
const maxPrinted = 100_000

// matches chooses the answers to print: those that match, and the corrections of those that matched and were printed.
// It remembers what was printed for as long as it can be corrected. Of what it has forgotten, since that was over or too
// much, it prints every correction that could be one.
type matches struct {
	filter attribution.Filter
	age    time.Duration // up to which an event's answer can be corrected; 0 for final answers
	most   int           // of printed

	count   int // answers that match, not counting those that were corrected away while they were remembered
	printed map[attribution.Key]printing
	order   []printing // as they were printed; one whose answer was printed again is void
	now     time.Time  // of the latest event that was answered
	doubt   time.Time  // until when an answer that was forgotten too early can be corrected
}

// printing is that the answer about an event of this time was printed.
type printing struct {
	key     attribution.Key
	at      time.Time
	matches bool
}

func newMatches(filter attribution.Filter, o attribution.Options) *matches {
	m := &matches{filter: filter, most: maxPrinted, printed: map[attribution.Key]printing{}}
	if !o.Last {
		m.age = o.Window + o.Linger + time.Second // a machine counts in whole seconds
	}
	return m
}

// take reports whether an answer is to be printed. It is told of all.
func (m *matches) take(a *attribution.Answer) bool {
	p := printing{a.Key, a.Event.Time, m.filter.Match(a)}
	if m.age == 0 || m.filter == (attribution.Filter{}) {
		m.count += number(p.matches)
		return p.matches
	}
	m.forget(p.at)
	before, known := m.printed[a.Key]
	if !p.matches && !known && !m.doubtful(a) {
		return false
	}
	m.count += number(p.matches) - number(before.matches)
	m.printed[a.Key] = p
	m.order = append(m.order, p)
	return true
}

// doubtful reports whether an answer may be the correction of one that was printed and forgotten.
func (m *matches) doubtful(a *attribution.Answer) bool {
	return a.Revision > 1 && (!m.now.After(m.doubt) || m.now.After(a.Event.Time.Add(m.age)))
}

// forget lets go of what nothing corrects any more now that an event of a time is answered, and of the oldest where it
// is too much.
func (m *matches) forget(at time.Time) {
	if at.After(m.now) {
		m.now = at
	}
	for len(m.order) > 0 {
		oldest := m.order[0]
		end := oldest.at.Add(m.age)
		if !m.now.After(end) && len(m.order) < m.most {
			return
		}
		m.order = m.order[1:]
		if m.printed[oldest.key] == oldest {
			delete(m.printed, oldest.key)
			if end.After(m.doubt) {
				m.doubt = end
			}
		}
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
