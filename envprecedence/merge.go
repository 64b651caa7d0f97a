package envprecedence

import "slices"

// Merge returns the environment of an exec'd process: environ strings, each name once, with the value of the highest tier
// that has it and, within that tier, of its last entry. The order is runtime, kubelet, API server, caller, container, each
// in its own order, with what was shadowed left out. So injected entries stand first, where agents that capture only the
// beginning of an environment see them.
//
// Values pass through byte by byte; an empty value is a value and wins like any other. A container entry without "=" or
// without a name would make a runtime refuse every exec: it is left out and returned in dropped, in order, nil if there is
// none. In any other tier it is an error: the first, as an [*EntryError] of [ErrNoEquals] or [ErrEmptyName], and no
// environment. The other rules of execve are [Validate]'s.
//
// The result is the caller's own; its strings are the tiers' own. Source: KEP-6035, Environment Variable Precedence.
func Merge(t Tiers, p Platform) (environ []string, dropped []*EntryError, err error) {
	tiers := t.ordered()
	total := 0
	for _, list := range tiers {
		total += len(list)
	}
	m := newMerger(total, p)
	for i, list := range tiers {
		malformed := m.add(Tier(i+1), list)
		if malformed != nil && Tier(i+1) != Container {
			return nil, nil, malformed[0]
		}
		dropped = malformed
	}
	return m.environ(), dropped, nil
}

// merger gathers entries from the last of the highest tier to the first of the lowest, so that whoever comes first wins.
type merger struct {
	seen index
	kept []string // backwards within each tier, because seen knows the entries by their position here
	ends []int    // of each tier in kept
}

func newMerger(entries int, p Platform) *merger {
	return &merger{
		seen: index{names: newNames(p), slots: make([]uint32, slotsFor(entries))},
		kept: make([]string, 0, entries),
	}
}

// add takes the entries whose names are new and returns the malformed ones.
func (m *merger) add(tier Tier, list []string) (malformed []*EntryError) {
	for i := len(list) - 1; i >= 0; i-- {
		eq, err := separator(list[i])
		if err != nil {
			malformed = append(malformed, &EntryError{Tier: tier, Index: i, Err: err})
			continue
		}
		if m.seen.add(list[i][:eq], m.kept) {
			m.kept = append(m.kept, list[i])
		}
	}
	m.ends = append(m.ends, len(m.kept))
	slices.Reverse(malformed)
	return malformed
}

// environ returns what was kept, each tier in its own order. The merger is of no more use then.
func (m *merger) environ() []string {
	reverseEach(m.kept, m.ends)
	return m.kept
}

// reverseEach reverses each of the list's consecutive parts, given by their ends.
func reverseEach[E any](list []E, ends []int) {
	start := 0
	for _, end := range ends {
		slices.Reverse(list[start:end])
		start = end
	}
}
