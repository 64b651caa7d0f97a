package jsonspan

import "strconv"

// skipScalar returns the end of the number or literal at at, -1 if there is none.
func skipScalar(text []byte, at int) int {
	for _, literal := range [...]string{"true", "false", "null"} {
		if len(text)-at >= len(literal) && string(text[at:at+len(literal)]) == literal {
			return at + len(literal)
		}
	}
	return skipNumber(text, at)
}

func skipNumber(text []byte, at int) int {
	if at < len(text) && text[at] == '-' {
		at++
	}
	whole := at
	if at = digits(text, at); at < 0 || text[whole] == '0' && at > whole+1 {
		return -1
	}
	if at < len(text) && text[at] == '.' {
		if at = digits(text, at+1); at < 0 {
			return -1
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		at = digits(text, at)
	}
	return at
}

// digits returns the end of one or more digits, -1 if there is none.
func digits(text []byte, at int) int {
	start := at
	for at < len(text) && '0' <= text[at] && text[at] <= '9' {
		at++
	}
	if at == start {
		return -1
	}
	return at
}

// Bool returns the boolean at the span; ok is false if it is not one.
func Bool(text []byte, s Span) (value, ok bool) {
	return text[s.Start] == 't', text[s.Start] == 't' || text[s.Start] == 'f'
}

// Uint returns the number at the span; ok is false if it is not one of whole numbers from 0 to 2^64-1 in digits alone.
func Uint(text []byte, s Span) (value uint64, ok bool) {
	value, err := strconv.ParseUint(string(s.Of(text)), 10, 64)
	return value, err == nil
}
