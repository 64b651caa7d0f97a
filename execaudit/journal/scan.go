package journal

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner walks one text of JSON and accepts exactly what json.Valid does. Its methods skip the space before what they
// look for, and report whether it was there; after false the scanner is of no further use.
type scanner struct {
	line []byte
	pos  int
}

// maxDepth is how deep arrays and objects may nest, as in encoding/json.
const maxDepth = 10_000

// peek returns the next byte that is not space, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.line) && s.line[s.pos] > ' ' {
		return s.line[s.pos]
	}
	return s.pastSpace()
}

func (s *scanner) pastSpace() byte {
	for ; s.pos < len(s.line); s.pos++ {
		switch b := s.line[s.pos]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

func (s *scanner) next(b byte) bool {
	if s.peek() != b {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) atEnd() bool {
	s.peek()
	return s.pos == len(s.line)
}

// value goes past a value inside of depth arrays and objects.
func (s *scanner) value(depth int) bool {
	switch s.peek() {
	case '"':
		_, _, ok := s.quoted()
		return ok
	case '{':
		return depth < maxDepth && s.members(func([]byte) bool { return s.value(depth + 1) })
	case '[':
		return depth < maxDepth && s.elements(func() bool { return s.value(depth + 1) })
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	_, ok := s.number()
	return ok
}

// members goes past an object. It calls value with each key, unescaped, to go past that key's value.
func (s *scanner) members(value func(key []byte) bool) bool {
	if !s.next('{') {
		return false
	}
	for more := s.peek() != '}'; more; more = s.next(',') {
		start, plain, ok := s.quoted()
		if !ok {
			return false
		}
		key := s.line[start : s.pos-1]
		if !plain {
			key = unquoted(key)
		}
		if !s.next(':') || !value(key) {
			return false
		}
	}
	return s.next('}')
}

// elements goes past an array. It calls value before each element, to go past it.
func (s *scanner) elements(value func() bool) bool {
	if !s.next('[') {
		return false
	}
	for more := s.peek() != ']'; more; more = s.next(',') {
		if !value() {
			return false
		}
	}
	return s.next(']')
}

func (s *scanner) literal(want string) bool {
	s.peek()
	if len(s.line)-s.pos < len(want) || string(s.line[s.pos:s.pos+len(want)]) != want {
		return false
	}
	s.pos += len(want)
	return true
}

// number goes past a number and returns it.
func (s *scanner) number() ([]byte, bool) {
	if b := s.peek(); b != '-' && b-'0' >= 10 {
		return nil, false
	}
	start := s.pos
	s.sign("-")
	if s.pos < len(s.line) && s.line[s.pos] == '0' {
		s.pos++
	} else if !s.digits() {
		return nil, false
	}
	if s.pos < len(s.line) && s.line[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return nil, false
		}
	}
	if s.pos < len(s.line) && s.line[s.pos]|0x20 == 'e' {
		s.pos++
		s.sign("+-")
		if !s.digits() {
			return nil, false
		}
	}
	return s.line[start:s.pos], true
}

// sign goes past one byte of signs, if there is one.
func (s *scanner) sign(signs string) {
	if s.pos < len(s.line) && strings.IndexByte(signs, s.line[s.pos]) >= 0 {
		s.pos++
	}
}

// digits goes past digits and reports whether there was one.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.line) && s.line[s.pos]-'0' < 10 {
		s.pos++
	}
	return s.pos > start
}

// quoted goes past a string whose inside begins at start and ends at pos-1. plain says that the inside means itself:
// it is UTF-8 without escapes.
func (s *scanner) quoted() (start int, plain, ok bool) {
	if s.peek() != '"' {
		return 0, false, false
	}
	start = s.pos + 1
	s.pos = start + harmless(s.line[start:])
	if s.pos < len(s.line) && s.line[s.pos] == '"' { // most strings are of harmless bytes alone
		s.pos++
		return start, true, true
	}
	plain, ok = s.rest(start)
	return start, plain, ok
}

// rest goes to the end of a string whose inside begins at start.
func (s *scanner) rest(start int) (plain, ok bool) {
	plain = true
	for ; s.pos < len(s.line); s.pos += harmless(s.line[s.pos:]) {
		switch b := s.line[s.pos]; {
		case b == '"':
			s.pos++
			return plain && utf8.Valid(s.line[start:s.pos-1]), true
		case b == '\\':
			plain = false
			if !s.escape() {
				return false, false
			}
		case b < ' ':
			return false, false
		default:
			for s.pos < len(s.line) && s.line[s.pos] >= utf8.RuneSelf {
				s.pos++
			}
		}
	}
	return false, false
}

// Bytes repeated in a word.
const (
	ones        = 0x0101010101010101
	highs       = 0x80 * ones
	quotes      = '"' * ones
	backslashes = '\\' * ones
	spaces      = ' ' * ones
)

// harmless returns how many bytes of text come before the first that is a quote, a backslash, a control character or
// not ASCII. It looks at eight at a time: most strings are short, and most of their bytes harmless.
func harmless(text []byte) int {
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(text[n:])
		q, b := x^quotes, x^backslashes // their zero bytes are quotes and backslashes
		found := ((q-ones)&^q | (b-ones)&^b | (x-spaces)&^x | x) & highs
		if found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for ; n < len(text); n++ {
		if b := text[n]; b == '"' || b == '\\' || b < ' ' || b >= utf8.RuneSelf {
			break
		}
	}
	return n
}

// escape goes past a backslash and what it escapes.
func (s *scanner) escape() bool {
	rest := s.line[s.pos:]
	switch {
	case len(rest) < 2:
		return false
	case codeUnit(rest) >= 0:
		s.pos += 6
		return true
	case strings.IndexByte(escapes, rest[1]) < 0:
		return false
	}
	s.pos += 2
	return true
}

// Escapes of one byte, and what they mean.
const (
	escapes = `"\/bfnrt`
	meaning = "\"\\/\b\f\n\r\t"
)

// unquoted returns what the inside of a string means, as encoding/json takes it: what is not UTF-8 and what is half a
// surrogate pair becomes U+FFFD.
func unquoted(inside []byte) []byte {
	out := make([]byte, 0, len(inside)+2*utf8.UTFMax)
	for len(inside) > 0 {
		n := harmless(inside)
		out = append(out, inside[:n]...)
		inside = inside[n:]
		switch {
		case len(inside) == 0:
		case inside[0] != '\\':
			r, size := utf8.DecodeRune(inside)
			out = utf8.AppendRune(out, r)
			inside = inside[size:]
		case inside[1] != 'u':
			out = append(out, meaning[strings.IndexByte(escapes, inside[1])])
			inside = inside[2:]
		default:
			r := codeUnit(inside)
			inside = inside[6:]
			if utf16.IsSurrogate(r) {
				if r = utf16.DecodeRune(r, codeUnit(inside)); r != utf8.RuneError {
					inside = inside[6:]
				}
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// codeUnit returns the value of the \uXXXX that text begins with, -1 when it does not.
func codeUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
