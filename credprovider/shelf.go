package credprovider

import (
	"slices"
	"strings"
)

// few is the number of patterns up to which comparing each is faster than looking one up.
const few = 4

// shelf holds the patterns with wildcards of one shape. When there are many they are found by one of their literal
// labels.
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
	if len(s.rules) <= few {
		return
	}
	shared := map[spot]int{}
	for i := range s.rules {
		for _, here := range spotsOf(s.rules[i].at.host) {
			shared[here]++
		}
	}
	s.byLabel = map[spot][]rule{}
	for _, r := range s.rules {
		spots := spotsOf(r.at.host)
		if len(spots) == 0 {
			s.unlabeled = append(s.unlabeled, r)
			continue
		}
		rarest := slices.MinFunc(spots, func(a, b spot) int { return shared[a] - shared[b] })
		s.byLabel[rarest] = append(s.byLabel[rarest], r)
		if !slices.Contains(s.positions, rarest.position) {
			s.positions = append(s.positions, rarest.position)
		}
	}
}

// spotsOf returns the labels of a host that have no wildcards.
func spotsOf(host string) []spot {
	var spots []spot
	for position, text := range strings.Split(host, ".") {
		if !strings.ContainsAny(text, wildcards) {
			spots = append(spots, spot{position, text})
		}
	}
	return spots
}

func (s *shelf) appendMatching(dst []int, at location, labels int) []int {
	if s.byLabel == nil {
		return appendMatching(dst, s.rules, at, labels)
	}
	dst = appendMatching(dst, s.unlabeled, at, labels)
	position := 0
	for text := range strings.SplitSeq(at.host, ".") {
		if slices.Contains(s.positions, position) {
			dst = appendMatching(dst, s.byLabel[spot{position, text}], at, labels)
		}
		position++
	}
	return dst
}
