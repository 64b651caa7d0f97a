package jsonspan

import (
	"errors"
	"iter"
)

// MaxDepth is how many objects and arrays may stand inside each other.
const MaxDepth = 1000

// The faults of a text.
var (
	// ErrSyntax: the text is not one JSON value.
	ErrSyntax = errors.New("not valid JSON")
	// ErrDepth: more than [MaxDepth] levels.
	ErrDepth = errors.New("JSON nested deeper than 1000")
)

// Span is a value's place in a text, from the first byte to the one behind the last.
type Span struct{ Start, End int }

// Of returns the bytes at the span, which alias text.
func (s Span) Of(text []byte) []byte { return text[s.Start:s.End] }

// Parse checks the whole text and returns where its one value stands.
func Parse(text []byte) (Span, error) {
	start := space(text, 0)
	end, err := skip(text, start)
	if err != nil {
		return Span{}, err
	}
	if space(text, end) != len(text) {
		return Span{}, ErrSyntax
	}
	return Span{start, end}, nil
}

// IsObject reports whether the value is an object.
func IsObject(text []byte, s Span) bool { return text[s.Start] == '{' }

// IsArray reports whether the value is an array.
func IsArray(text []byte, s Span) bool { return text[s.Start] == '[' }

// IsNull reports whether the value is null.
func IsNull(text []byte, s Span) bool { return text[s.Start] == 'n' }

// Members goes through an object of a text that Parse accepted: each key, decoded, and where its value stands, in
// order, duplicates included. A value that is not an object has none.
func Members(text []byte, object Span) iter.Seq2[string, Span] {
	return func(yield func(string, Span) bool) {
		for at := first(text, object, '{'); at >= 0; {
			keyEnd := skipString(text, at)
			start := space(text, space(text, keyEnd)+1)
			end, _ := skip(text, start)
			if !yield(unquote(text[at:keyEnd]), Span{start, end}) {
				return
			}
			at = next(text, end)
		}
	}
}

// Elements goes through an array of a text that Parse accepted. A value that is not an array has none.
func Elements(text []byte, array Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for at := first(text, array, '['); at >= 0; {
			end, _ := skip(text, at)
			if !yield(Span{at, end}) {
				return
			}
			at = next(text, end)
		}
	}
}

// first returns where the first element or key stands, -1 if there is none.
func first(text []byte, s Span, open byte) int {
	if text[s.Start] != open {
		return -1
	}
	at := space(text, s.Start+1)
	if text[at] == open+2 { // the closing one, in ASCII
		return -1
	}
	return at
}

// next returns where what follows a comma stands, -1 if there is none.
func next(text []byte, at int) int {
	at = space(text, at)
	if text[at] != ',' {
		return -1
	}
	return space(text, at+1)
}

// skip returns the end of the value that starts at at, which it checks.
func skip(text []byte, at int) (int, error) {
	var stack [(MaxDepth + 63) / 64]uint64 // which levels are objects; small, since this is called for every value
	depth := 0
	for {
		if at >= len(text) {
			return 0, ErrSyntax
		}
		switch c := text[at]; c {
		case '{', '[':
			if depth == MaxDepth {
				return 0, ErrDepth
			}
			inner := space(text, at+1)
			if inner < len(text) && text[inner] == c+2 {
				at = inner + 1
				break
			}
			object := c == '{'
			push(&stack, depth, object)
			depth++
			if at = inner; object {
				if at = key(text, at); at < 0 {
					return 0, ErrSyntax
				}
			}
			continue
		case '"':
			at = skipString(text, at)
		default:
			at = skipScalar(text, at)
		}
		if at < 0 {
			return 0, ErrSyntax
		}
		// A value ended: so do all objects and arrays that it was the last of.
		for depth > 0 {
			at = space(text, at)
			object := stack[(depth-1)/64]>>((depth-1)%64)&1 != 0
			if at >= len(text) || text[at] != ',' && text[at] != closing(object) {
				return 0, ErrSyntax
			}
			if at++; text[at-1] != ',' {
				depth--
				continue
			}
			if at = space(text, at); object {
				if at = key(text, at); at < 0 {
					return 0, ErrSyntax
				}
			}
			break
		}
		if depth == 0 {
			return at, nil
		}
	}
}

func push(stack *[(MaxDepth + 63) / 64]uint64, depth int, object bool) {
	bit := uint64(1) << (depth % 64)
	if stack[depth/64] &^= bit; object {
		stack[depth/64] |= bit
	}
}

func closing(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// key returns where the value behind a key and its colon stands, -1 if there is none.
func key(text []byte, at int) int {
	if at >= len(text) || text[at] != '"' {
		return -1
	}
	if at = skipString(text, at); at < 0 {
		return -1
	}
	if at = space(text, at); at >= len(text) || text[at] != ':' {
		return -1
	}
	return space(text, at+1)
}

func space(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}
