package credprovider

import (
	"slices"
	"strings"
)

// shortShelf is the number of patterns up to which comparing each is faster than looking one up.
const shortShelf = 8

// shelf holds the patterns with wildcards of one shape. When there are many they are found by one of their literal labels.
type shelf struct {
	rules     []rule
	positions []int // of the labels that patterns are found by
	byLabel   map[spot][]rule
	unlabeled []rule // those without a literal label
}

// spot is a label and its position in the host.
type spot struct {
	position int
	text     string
}

// sort files every pattern under the literal label that the fewest patterns have.
func (s *shelf) sort() {
	if len(s.rules) <= shortShelf {
		return
	}
	shared := map[spot]int{}
	for i := range s.rules {
		for position, l := range s.rules[i].labels {
			shared[spot{position, l.text}]++
		}
	}
	s.byLabel = map[spot][]rule{}
	for _, r := range s.rules {
		rarest, found := spot{}, false
		for position, l := range r.labels {
			here := spot{position, l.text}
			if !l.glob && (!found || shared[here] < shared[rarest]) {
				rarest, found = here, true
			}
		}
		if !found {
			s.unlabeled = append(s.unlabeled, r)
			continue
		}
		s.byLabel[rarest] = append(s.byLabel[rarest], r)
		if !slices.Contains(s.positions, rarest.position) {
			s.positions = append(s.positions, rarest.position)
		}
	}
}

func (s *shelf) appendMatching(dst []int, at location, count int) []int {
	if s.byLabel == nil {
		return appendMatching(dst, s.rules, at, count)
	}
	dst = appendMatching(dst, s.unlabeled, at, count)
	position := 0
	for text := range strings.SplitSeq(at.host, ".") {
		if slices.Contains(s.positions, position) {
			dst = appendMatching(dst, s.byLabel[spot{position, text}], at, count)
		}
		position++
	}
	return dst
}
