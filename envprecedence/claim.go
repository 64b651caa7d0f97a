package envprecedence

import (
	"slices"
	"strings"
)

// claimAll goes through the entries from the last to the one at start, and each claims its name, so that whoever comes
// first wins. It blanks those whose name is taken and those that are malformed; it returns the number of blanks and the
// malformed entries, in order. What the winners shadow in a baseline is noted in below, which may be nil; a name that
// the baseline has is claimed there, so that the index is searched for the others only.
func (x *index) claimAll(tier Tier, environ []string, start int, below *shadow) (blanks int, malformed []*EntryError) {
	for i := len(environ) - 1; i >= start; i-- {
		entry := environ[i]
		eq := strings.IndexByte(entry, '=')
		if eq <= 0 {
			malformed = append(malformed, malformedEntry(tier, i-start, eq))
			environ[i] = ""
			blanks++
			continue
		}
		// The search is a call of its own, because most searches end at the first slot.
		hash := x.hash(entry, eq)
		if below != nil {
			if at := below.find(hash, entry[:eq]); at >= 0 {
				if !below.hit.claim(at) {
					environ[i] = ""
					blanks++
				}
				continue
			}
		}
		slot := x.first(hash)
		if *slot != 0 {
			slot = x.search(hash, entry[:eq], environ)
		}
		if *slot != 0 {
			environ[i] = ""
			blanks++
			continue
		}
		*slot = x.taken(hash, i)
	}
	if malformed != nil {
		slices.Reverse(malformed)
	}
	return blanks, malformed
}

// compact removes the blanks in place and moves what follows the last of them in one go.
func compact(environ []string, blanks int) []string {
	if blanks == 0 {
		return environ
	}
	kept := slices.Index(environ, "")
	next := kept
	for ; blanks > 0; next++ {
		if environ[next] == "" {
			blanks--
			continue
		}
		environ[kept] = environ[next]
		kept++
	}
	kept += copy(environ[kept:], environ[next:])
	clear(environ[kept:])
	return environ[:kept]
}
