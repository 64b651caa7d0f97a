// Package scan walks one line of JSON and touches only what is asked for.
//
// A Cursor checks structure as it goes: quotes, braces, brackets and, in objects whose members it lists, commas and
// colons. It does not check what it skips beyond that: escapes, the spelling of numbers.
package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Cursor is a position in a line. After a fault every method returns zero values. A value that is there and cannot be
// what it should, such as 31 February or a number beyond 64 bits, is a fault too: no reader takes another value for it.
type Cursor struct {
	line []byte
	pos  int
	open bool // just behind an opening brace or bracket
	bad  bool
}

// New returns a Cursor before the line's one value.
func New(line []byte) Cursor {
	return Cursor{line: line}
}

// OK reports whether the line's value was complete and nothing but space follows.
func (c *Cursor) OK() bool {
	c.space()
	return !c.bad && c.pos == len(c.line)
}

func (c *Cursor) fail() {
	c.bad = true
	c.pos = len(c.line)
}

func (c *Cursor) space() {
	for c.pos < len(c.line) && c.line[c.pos] <= ' ' {
		c.pos++
	}
}

// peek returns the next byte that is not space, 0 at the end.
func (c *Cursor) peek() byte {
	if c.pos < len(c.line) && c.line[c.pos] > ' ' {
		return c.line[c.pos]
	}
	c.space()
	if c.pos < len(c.line) {
		return c.line[c.pos]
	}
	return 0
}

// Object goes into an object and reports whether there is one; another value is skipped.
func (c *Cursor) Object() bool {
	return c.enter('{')
}

// Array goes into an array and reports whether there is one; another value is skipped.
func (c *Cursor) Array() bool {
	return c.enter('[')
}

func (c *Cursor) enter(bracket byte) bool {
	if c.peek() != bracket {
		c.Skip()
		return false
	}
	c.pos++
	c.open = true
	return true
}

// Member returns the key of the object's next member, still escaped, and stands before its value; false after the
// object's end.
func (c *Cursor) Member() ([]byte, bool) {
	if !c.more('}') {
		return nil, false
	}
	if c.peek() != '"' {
		c.fail()
		return nil, false
	}
	key := c.quoted()
	if c.peek() != ':' {
		c.fail()
		return nil, false
	}
	c.pos++
	return key, true
}

// Element reports whether the array has another element, and stands before it; false after the array's end.
func (c *Cursor) Element() bool {
	return c.more(']')
}

func (c *Cursor) more(end byte) bool {
	next := c.peek()
	first := c.open
	c.open = false
	switch {
	case next == end:
		c.pos++
		return false
	case next == 0:
		c.fail()
		return false
	case first:
		return true
	case next != ',':
		c.fail()
		return false
	}
	c.pos++
	return true
}

// quoted returns what is between the quotes, of which the first is next.
func (c *Cursor) quoted() []byte {
	start := c.pos + 1
	end := closing(c.line, start)
	if end < 0 {
		c.fail()
		return nil
	}
	c.pos = end + 1
	return c.line[start:end]
}

// closing returns the place of the quote that ends the string whose inside begins at start, -1 for none. Most strings
// are keys or short: to look for the quote in their first two words costs less than a call of bytes.IndexByte.
func closing(line []byte, start int) int {
	for at := start; ; {
		if at-start < 16 && len(line)-at >= 8 {
			x := binary.LittleEndian.Uint64(line[at:]) ^ quotes // a quote is a zero byte
			zeros := (x - ones) &^ x & highs
			if zeros == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(zeros) / 8
		} else {
			i := bytes.IndexByte(line[at:], '"')
			if i < 0 {
				return -1
			}
			at += i
		}
		if at == start || line[at-1] != '\\' || !escaped(line[start:at]) {
			return at
		}
		at++
	}
}

// Bytes repeated in a word.
const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	quotes = '"' * ones
)

// escaped reports whether what follows text stands behind an odd number of backslashes.
func escaped(text []byte) bool {
	n := 0
	for n < len(text) && text[len(text)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// Skip goes past a value.
func (c *Cursor) Skip() {
	switch c.peek() {
	case '"':
		c.quoted()
	case '{', '[':
		c.skipNested(0, 0)
	default:
		c.literal()
	}
	c.open = false
}

// maxDepth bounds nesting; what is deeper is a fault.
const maxDepth = 64

// objectBit is in '{' and '}', and in neither bracket.
const objectBit = 1

// Leave goes past the rest of an object: its remaining members and its end. The cursor stands behind a member's value.
func (c *Cursor) Leave() {
	c.open = false
	c.skipNested(objectBit, 1)
}

// skipNested goes on until depth is 0. kinds has a bit for each level that is open: object or array.
func (c *Cursor) skipNested(kinds uint64, depth int) {
	line := c.line
	for pos := c.pos; pos < len(line); pos++ {
		switch line[pos] {
		case '"':
			if pos = closing(line, pos+1); pos < 0 {
				c.fail()
				return
			}
		case '{', '[':
			if depth == maxDepth {
				c.fail()
				return
			}
			kinds = kinds<<1 | uint64(line[pos]>>5&1) // '{' has the bit, '[' has not
			depth++
		case '}', ']':
			if kinds&1 != uint64(line[pos]>>5&1) {
				c.fail()
				return
			}
			kinds >>= 1
			depth--
			if depth == 0 {
				c.pos = pos + 1
				return
			}
		}
	}
	c.fail()
}

// Null reports whether the value is null, and goes past it if so.
func (c *Cursor) Null() bool {
	if c.peek() != 'n' {
		return false
	}
	c.open = false
	return string(c.literal()) == "null"
}

// Quoted reports whether the value is a string.
func (c *Cursor) Quoted() bool {
	return c.peek() == '"'
}

// literal goes past a number, true, false or null and returns it.
func (c *Cursor) literal() []byte {
	start := c.pos
	for c.pos < len(c.line) && inLiteral(c.line[c.pos]) {
		c.pos++
	}
	if c.pos == start || !startsLiteral(c.line[start]) {
		c.fail()
		return nil
	}
	return c.line[start:c.pos]
}

func inLiteral(b byte) bool {
	return b-'0' < 10 || b|0x20-'a' < 26 || b == '.' || b == '-' || b == '+'
}

func startsLiteral(b byte) bool {
	return b-'0' < 10 || b == '-' || b == 't' || b == 'f' || b == 'n'
}
