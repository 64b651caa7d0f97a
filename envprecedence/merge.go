package envprecedence

// Merge returns the environment of an exec'd process: environ strings, each name once, with the value of the highest
// tier that defines it and, within that tier, of its last entry. The order is runtime, kubelet, API server, caller,
// container, each in its own order, with what was shadowed left out. So injected entries stand first, where agents that
// capture only the beginning of an environment see them.
//
// Values pass through byte by byte; an empty value is a value and wins like any other. A container entry without "=" or
// without a name would make a runtime refuse every exec: it is left out and returned in dropped, in order, nil if there
// is none. In any other tier it is an error: the first, as an [*EntryError] of [ErrNoEquals] or [ErrEmptyName], and no
// environment. The other rules of execve are [Validate]'s.
//
// The result is the caller's own, empty and not nil where there is nothing; its strings are the tiers' own.
// Source: KEP-6035, Environment Variable Precedence.
func Merge(t Tiers, p Platform) (environ []string, dropped []*EntryError, err error) {
	total := len(t.Runtime) + len(t.Kubelet) + len(t.APIServer) + len(t.Caller) + len(t.Container)
	// The table of a common environment stays on the stack.
	switch {
	case total <= 16:
		var slots [64]uint32
		return merge(&t, total, newIndex(p, slots[:]))
	case total <= 128:
		var slots [512]uint32
		return merge(&t, total, newIndex(p, slots[:]))
	case total <= 512:
		var slots [2048]uint32
		return merge(&t, total, newIndex(p, slots[:]))
	}
	return merge(&t, total, newIndex(p, make([]uint32, slotsFor(total))))
}

func merge(t *Tiers, total int, seen index) (environ []string, dropped []*EntryError, err error) {
	environ = make([]string, 0, total)
	blanks := 0
	for i, list := range [...][]string{t.Runtime, t.Kubelet, t.APIServer, t.Caller, t.Container} {
		if len(list) == 0 {
			continue
		}
		start := len(environ)
		environ = append(environ, list...)
		lost, malformed := seen.claimAll(Tier(i+1), environ, start, nil)
		if malformed != nil && Tier(i+1) != TierContainer {
			return nil, nil, malformed[0]
		}
		dropped = malformed
		blanks += lost
	}
	return compact(environ, blanks), dropped, nil
}
