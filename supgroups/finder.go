package supgroups

import (
	"bytes"
	"encoding/binary"
)

// finder looks for one short text in blocks. Only rows that hold the text can matter, and passing over all others
// without parsing them is what makes a large file cheap.
type finder struct {
	text string // "" finds nothing
	at   int    // where the last seek ended: at the text, or at the block's end
}

// reset makes the next seek start afresh, in a new block.
func (f *finder) reset() { f.at = -1 }

// seek returns the first place at or after from where b holds the text, or len(b). Between resets from must not
// decrease.
func (f *finder) seek(b []byte, from int) int {
	if f.text == "" {
		return len(b)
	}
	if f.at < from {
		f.at = from + f.search(b[from:])
	}
	return f.at
}

// search looks for the end of the text first, since names that are made by a pattern differ in their ends.
func (f *finder) search(b []byte) int {
	lead := len(f.text) - tailBytes(f.text)
	for at := lead; at <= len(b); at++ {
		i := indexTail(b[at:], f.text[lead:])
		if i < 0 {
			break
		}
		at += i
		if start := at - lead; string(b[start:at]) == f.text[:lead] {
			return start
		}
	}
	return len(b)
}

// tailBytes is how much of a text's end is compared at once: a word, half a word, or all of a text that is shorter.
func tailBytes(text string) int {
	switch n := len(text); {
	case n >= 8:
		return 8
	case n >= 4:
		return 4
	default:
		return n
	}
}

// indexTail is bytes.Index for a tail. Comparing a word at every place is several times faster than bytes.Index:
// nothing waits for anything, and the branches are hardly ever taken.
func indexTail(b []byte, tail string) int {
	switch len(tail) {
	case 8:
		return index8(b, binary.LittleEndian.Uint64([]byte(tail)))
	case 4:
		return index4(b, binary.LittleEndian.Uint32([]byte(tail)))
	}
	return bytes.Index(b, []byte(tail))
}

// index8 returns the first place in b of the eight bytes of key, or -1. It takes eight places at a time, and looks
// closer when one of them has the key.
func index8(b []byte, key uint64) int {
	le, c := binary.LittleEndian, b
	for len(c) >= 16 {
		if le.Uint64(c) == key || le.Uint64(c[1:]) == key || le.Uint64(c[2:]) == key || le.Uint64(c[3:]) == key ||
			le.Uint64(c[4:]) == key || le.Uint64(c[5:]) == key || le.Uint64(c[6:]) == key || le.Uint64(c[7:]) == key {
			break
		}
		c = c[8:]
	}
	for i := len(b) - len(c); i <= len(b)-8; i++ {
		if le.Uint64(b[i:]) == key {
			return i
		}
	}
	return -1
}

// index4 is index8 for four bytes.
func index4(b []byte, key uint32) int {
	le, c := binary.LittleEndian, b
	for len(c) >= 16 {
		if le.Uint32(c) == key || le.Uint32(c[1:]) == key || le.Uint32(c[2:]) == key || le.Uint32(c[3:]) == key ||
			le.Uint32(c[4:]) == key || le.Uint32(c[5:]) == key || le.Uint32(c[6:]) == key || le.Uint32(c[7:]) == key {
			break
		}
		c = c[8:]
	}
	for i := len(b) - len(c); i <= len(b)-4; i++ {
		if le.Uint32(b[i:]) == key {
			return i
		}
	}
	return -1
}
