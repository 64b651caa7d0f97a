package supgroups

import (
	"bytes"
	"encoding/binary"
)

// finder looks for one short text in blocks. Only rows that hold the text can matter, and passing over all others a word
// at a time is what makes a large file cheap.
//
// A window is a part of the text of at most eight bytes. The keys are as many windows as a step is long, each one byte
// further into the text, so that wherever the text stands, one of them stands at a place that the steps come by.
type finder struct {
	text string // "" finds nothing
	step int    // 0 when the text is too short for windows
	base int    // where in the text the first key begins
	keys [maxStep]uint64
	mask uint64
	at   int // where the last search ended: at the text, or at the block's end
}

const (
	word    = 8
	maxStep = 4
)

func (f *finder) set(text string) {
	f.text = text
	switch n := len(text); {
	case n < 5:
		return
	case n < 9: // a longer step would leave windows that half of all names share
		f.step = 2
	default:
		f.step = maxStep
	}
	window := min(word, len(text)-f.step+1)
	// The last windows are taken, because names differ in their ends.
	f.base = len(text) - window - f.step + 1
	f.mask = ^uint64(0) >> (8 * (word - window))
	for j := range f.keys {
		var key [word]byte
		copy(key[:window], text[f.base+min(j, f.step-1):])
		f.keys[j] = binary.LittleEndian.Uint64(key[:])
	}
}

// reset makes the next seek start afresh, in a new block.
func (f *finder) reset() { f.at = -1 }

// seek returns the first place at or after from where b holds the text, or len(b). Between resets from must not decrease.
func (f *finder) seek(b []byte, from int) int {
	if f.text == "" {
		return len(b)
	}
	if f.at < from {
		f.at = from + f.search(b[from:])
	}
	return f.at
}

func (f *finder) search(b []byte) int {
	tail := 0
	if f.step > 0 {
		at, end := f.searchWords(b)
		if at >= 0 {
			return at
		}
		tail = min(len(b), max(0, end-f.step+1-f.base))
	}
	for {
		at := bytes.IndexByte(b[tail:], f.text[0])
		if at < 0 {
			return len(b)
		}
		if tail += at; f.standsAt(b, tail) {
			return tail
		}
		tail++
	}
}

func (f *finder) standsAt(b []byte, i int) bool {
	return i >= 0 && len(b)-i >= len(f.text) && string(b[i:i+len(f.text)]) == f.text
}

// searchWords returns where the text begins, or -1 and the first place that was not looked at for lack of a whole word.
func (f *finder) searchWords(b []byte) (at, end int) {
	k0, k1, k2, k3, mask := f.keys[0], f.keys[1], f.keys[2], f.keys[3], f.mask
	i := f.base
	if f.step == 2 {
		for ; i+word <= len(b); i += 2 {
			w := binary.LittleEndian.Uint64(b[i:i+word]) & mask
			if w == k0 || w == k1 {
				if at := f.verify(b, i, w); at >= 0 {
					return at, i
				}
			}
		}
		return -1, i
	}
	for ; i+word <= len(b); i += maxStep {
		w := binary.LittleEndian.Uint64(b[i:i+word]) & mask
		if w != k0 && w != k1 && w != k2 && w != k3 {
			continue
		}
		if at := f.verify(b, i, w); at >= 0 {
			return at, i
		}
	}
	return -1, i
}

// verify returns where the text begins whose window w stands at b[i], or -1. Of several places it returns the first.
func (f *finder) verify(b []byte, i int, w uint64) int {
	for j := f.step - 1; j >= 0; j-- {
		start := i - f.base - j
		if w == f.keys[j] && f.standsAt(b, start) {
			return start
		}
	}
	return -1
}
