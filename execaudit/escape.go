package execaudit

import "strings"

// isQueryParam reports whether key, still escaped, is QueryParam.
func isQueryParam(key string) bool {
	if key == QueryParam {
		return true
	}
	if len(key) > 3*len(QueryParam) || strings.IndexByte(key, '%') < 0 {
		return false
	}
	size, detail := measure(key)
	return detail == "" && unescape(key, size) == QueryParam
}

// mayBeQueryParam is isQueryParam, and true for a key that is malformed.
func mayBeQueryParam(key string) bool {
	_, detail := measure(key)
	return detail != "" || isQueryParam(key)
}

// measure returns how many bytes escaped has once decoded, or what is wrong
// with it. It allocates nothing.
func measure(escaped string) (size int, detail string) {
	for i := 0; i < len(escaped); i++ {
		switch c := escaped[i]; {
		case c == '%':
			if i+2 >= len(escaped) || !isHex(escaped[i+1]) || !isHex(escaped[i+2]) {
				return 0, detailEscape
			}
			i += 2
		case c == ';':
			return 0, detailSemicolon
		case c < ' ' || c == 0x7f:
			return 0, detailControl
		}
		size++
	}
	return size, ""
}

// unescape decodes what measure found no fault in and gave size for.
func unescape(escaped string, size int) string {
	if size == len(escaped) && strings.IndexByte(escaped, '+') < 0 {
		return escaped
	}
	var text strings.Builder
	text.Grow(size)
	for i := 0; i < len(escaped); i++ {
		switch c := escaped[i]; c {
		case '%':
			text.WriteByte(unhex(escaped[i+1])<<4 | unhex(escaped[i+2]))
			i += 2
		case '+':
			text.WriteByte(' ')
		default:
			text.WriteByte(c)
		}
	}
	return text.String()
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
