package envprecedence

import "math/bits"

// positions is a set of positions in a list, one bit each.
type positions []uint64

// newPositions returns an empty set for a list of n entries. It uses the given words, all of them 0, if they are
// enough.
func newPositions(n int, words []uint64) positions {
	if n > 64*len(words) {
		return make(positions, n/64+1)
	}
	return words
}

func (p positions) add(at int) { p[at/64] |= 1 << (at % 64) }

// claim adds the position and reports whether it was not there.
func (p positions) claim(at int) bool {
	word, bit := &p[at/64], uint64(1)<<(at%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// appendOthers appends to dst the entries of list that are not in p, run by run. dst may be the beginning of list.
func appendOthers[T any](p positions, dst, list []T) []T {
	start := 0
	for i := 0; i*64 < len(list); i++ {
		for word := p[i]; word != 0; word &= word - 1 {
			at := i*64 + bits.TrailingZeros64(word)
			dst = append(dst, list[start:at]...)
			start = at + 1
		}
	}
	return append(dst, list[start:]...)
}
