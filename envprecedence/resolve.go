package envprecedence

// Resolve is [Merge] for entries: it returns those that remain of the tiers, the highest precedence first. Each name
// comes once, with the value of the highest tier that defines it and, within that tier, of its last entry; every tier
// keeps its own order, with what lost left out. nil when nothing remains. The inputs are not changed, and the result is
// the caller's own.
//
// Names for which key returns the same text are one name, and the winner's spelling stays; a nil key compares names
// byte by byte. Nothing is checked: an entry without a name is one like any other. For up to 512 entries it allocates
// the result and nothing else.
//
// Source: KEP-6035, Environment Variable Precedence.
func Resolve(key func(name string) string, tiers ...[]Entry) []Entry {
	total := 0
	for _, tier := range tiers {
		total += len(tier)
	}
	// The tables stay on the stack.
	switch {
	case total == 0:
		return nil
	case total <= 32:
		var slots [128]uint32
		var keys [32]string
		var lost [1]uint64
		return resolve(key, tiers, slots[:], keys[:total], lost[:])
	case total <= 512:
		var slots [2048]uint32
		var keys [512]string
		var lost [8]uint64
		return resolve(key, tiers, slots[:], keys[:total], lost[:])
	}
	return resolve(key, tiers, make([]uint32, slotsFor(total)), make([]string, total), nil)
}

// resolve needs a key for each entry and slots for as many.
func resolve(key func(name string) string, tiers [][]Entry, slots []uint32, keys []string, words []uint64) []Entry {
	entries := make([]Entry, 0, len(keys))
	seen, lost := index{newNamesIn(bareNames), slots}, newPositions(len(keys), words)
	for _, tier := range tiers {
		start := len(entries)
		entries = append(entries, tier...)
		for i, e := range tier {
			if keys[start+i] = e.Name; key != nil {
				keys[start+i] = key(e.Name)
			}
		}
		seen.claimNames(keys, start, len(entries), lost)
	}
	kept := appendOthers(lost, entries[:0], entries)
	clear(entries[len(kept):])
	return kept
}

// claimNames goes through the names from the one before end to the one at start, and each claims itself; it adds the
// positions of those that were taken to lost.
func (x *index) claimNames(list []string, start, end int, lost positions) {
	for i := end - 1; i >= start; i-- {
		name := list[i]
		hash := x.hash(name, len(name))
		slot := x.first(hash)
		if *slot != 0 {
			slot = x.search(hash, name, list)
		}
		if *slot != 0 {
			lost.add(i)
			continue
		}
		*slot = x.taken(hash, i)
	}
}
