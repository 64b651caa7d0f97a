// Package scan walks one line of JSON and touches only what is asked for.
//
// A Cursor checks structure as it goes: quotes, braces, brackets and, in objects whose members it lists, commas and colons.
// It does not check what it skips beyond that: escapes, the spelling of numbers.
package scan

import "bytes"

// Cursor is a position in a line. After a fault every method returns zero values.
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

// Bad reports whether a fault was met.
func (c *Cursor) Bad() bool {
	return c.bad
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

// Member returns the key of the object's next member, still escaped, and stands before its value; false behind the object's end.
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

// Element reports whether the array has another element, and stands before it; false behind the array's end.
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
	for at := start; ; {
		i := bytes.IndexByte(c.line[at:], '"')
		if i < 0 {
			c.fail()
			return nil
		}
		at += i
		if at == start || c.line[at-1] != '\\' || !c.escaped(start, at) {
			c.pos = at + 1
			return c.line[start:at]
		}
		at++
	}
}

// escaped reports whether the byte at the position stands behind an odd number of backslashes.
func (c *Cursor) escaped(start, at int) bool {
	n := 0
	for at-n-1 >= start && c.line[at-n-1] == '\\' {
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
		c.skipNested()
	default:
		c.literal()
	}
	c.open = false
}

// maxDepth bounds nesting; what is deeper is a fault.
const maxDepth = 64

func (c *Cursor) skipNested() {
	var kinds uint64 // a bit a level: object or array
	depth := 0
	for c.pos < len(c.line) {
		switch c.line[c.pos] {
		case '"':
			c.quoted()
			continue
		case '{', '[':
			if depth == maxDepth {
				c.fail()
				return
			}
			kinds = kinds<<1 | uint64(c.line[c.pos]>>5&1) // '{' has the bit, '[' has not
			depth++
		case '}', ']':
			if kinds&1 != uint64(c.line[c.pos]>>5&1) {
				c.fail()
				return
			}
			kinds >>= 1
			depth--
			if depth == 0 {
				c.pos++
				return
			}
		}
		c.pos++
	}
	c.fail()
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
