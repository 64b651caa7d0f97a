package scan

import (
	"bytes"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// Raw returns a string value still escaped; nil for another value, which is skipped.
func (c *Cursor) Raw() []byte {
	if c.peek() != '"' {
		c.Skip()
		return nil
	}
	c.open = false
	return c.quoted()
}

// Texts returns an array's strings, still escaped, nil for another value; an element that is not a string is nil.
func (c *Cursor) Texts() [][]byte {
	if !c.Array() {
		return nil
	}
	var list [][]byte
	for c.Element() {
		list = append(list, c.Raw())
	}
	return list
}

// Int returns a whole number, 0 for null. Every other value is a fault, and so is a number that is not whole or over 64
// bits.
func (c *Cursor) Int() int64 {
	if c.Null() {
		return 0
	}
	c.open = false
	n, ok := atoi(c.literal())
	if !ok {
		c.fail()
	}
	return n
}

// PID returns a process's number, 0 for null and for the kernel's own process. What no process can have is a fault.
func (c *Cursor) PID() int {
	n := c.Int()
	if n < 0 || n > maxPID {
		c.fail()
		return 0
	}
	return int(n)
}

// Uint32 returns a whole number of 32 bits, 0 for null. Every other value is a fault.
func (c *Cursor) Uint32() uint32 {
	n := c.Int()
	if n < 0 || n > math.MaxUint32 {
		c.fail()
		return 0
	}
	return uint32(n)
}

// maxPID is the highest value of the kernel's pid_t.
const maxPID = 1<<31 - 1

// maxDigits is how many digits 64 bits can have at most.
const maxDigits = 19

func atoi(text []byte) (int64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	var n uint64
	for _, b := range text {
		if b-'0' >= 10 {
			return 0, false
		}
		n = n*10 + uint64(b-'0')
	}
	if n > math.MaxInt64 {
		return 0, false
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}

// True reports whether the value is the literal true.
func (c *Cursor) True() bool {
	if c.peek() != 't' {
		c.Skip()
		return false
	}
	c.open = false
	return string(c.literal()) == "true"
}

// AppendUnescaped appends the text that the inside of a JSON string means. A broken escape is kept as it is.
func AppendUnescaped(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		var n int
		dst, n = appendEscape(dst, raw[i:])
		raw = raw[i+n:]
	}
}

// appendEscape appends the meaning of the escape at the start of raw and returns its length.
func appendEscape(dst, raw []byte) ([]byte, int) {
	if at := bytes.IndexByte([]byte(`"\/bfnrt`), raw[1]); at >= 0 {
		return append(dst, "\"\\/\b\f\n\r\t"[at]), 2
	}
	r, ok := codeUnit(raw)
	if !ok {
		return append(dst, raw[0], raw[1]), 2
	}
	if utf16.IsSurrogate(r) {
		if low, ok := codeUnit(raw[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(dst, pair), 12
			}
		}
	}
	return utf8.AppendRune(dst, r), 6
}

// codeUnit reads \uXXXX.
func codeUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, b := range raw[2:6] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), lower(b))
		if digit < 0 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'F' {
		return b + 'a' - 'A'
	}
	return b
}

// Number goes past a value and reports whether it is a number.
func (c *Cursor) Number() bool {
	b := c.peek()
	c.Skip()
	return b-'0' < 10 || b == '-'
}
