package jsonspan

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// skipString returns the end of the string at at, -1 if it is not one.
func skipString(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			return at + 1
		case c < ' ':
			return -1
		case c == '\\':
			if at++; at >= len(text) {
				return -1
			}
			switch text[at] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if hex4(text[at+1:]) < 0 {
					return -1
				}
				at += 4
			default:
				return -1
			}
		}
	}
	return -1
}

// String returns the decoded string at the span; ok is false if it is not a string. What is not valid UTF-8 and half
// a surrogate pair become U+FFFD, as encoding/json has it.
func String(text []byte, s Span) (value string, ok bool) {
	if text[s.Start] != '"' {
		return "", false
	}
	return unquote(s.Of(text)), true
}

// Strings returns the decoded strings of the array at the span; ok is false if it is not an array of strings.
func Strings(text []byte, s Span) (values []string, ok bool) {
	for element := range Elements(text, s) {
		value, ok := String(text, element)
		if !ok {
			return nil, false
		}
		values = append(values, value)
	}
	return values, IsArray(text, s)
}

// unquote decodes a string that skipString accepted, quotes included.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	plain := true
	for _, c := range inner {
		if c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return string(inner)
	}
	value := make([]byte, 0, len(inner))
	for at := 0; at < len(inner); {
		if inner[at] == '\\' {
			var r rune
			r, at = escaped(inner, at+1)
			value = utf8.AppendRune(value, r)
			continue
		}
		r, size := utf8.DecodeRune(inner[at:])
		value = utf8.AppendRune(value, r)
		at += size
	}
	return string(value)
}

// escaped returns the rune of the escape whose letter is at at, and where the rest goes on.
func escaped(inner []byte, at int) (rune, int) {
	switch inner[at] {
	case 'b':
		return '\b', at + 1
	case 'f':
		return '\f', at + 1
	case 'n':
		return '\n', at + 1
	case 'r':
		return '\r', at + 1
	case 't':
		return '\t', at + 1
	case 'u':
	default:
		return rune(inner[at]), at + 1
	}
	r := hex4(inner[at+1:])
	at += 5
	if !utf16.IsSurrogate(r) {
		return r, at
	}
	if at+6 <= len(inner) && inner[at] == '\\' && inner[at+1] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(inner[at+2:])); pair != utf8.RuneError {
			return pair, at + 6
		}
	}
	return utf8.RuneError, at
}

// Contains reports whether ASCII text stands in a text that may be no JSON, as it is or with bytes of it escaped.
func Contains(text []byte, ascii string) bool {
	if contains(text, ascii) {
		return true
	}
	if !contains(text, `\u00`) {
		return false
	}
	plain := make([]byte, 0, len(text))
	for at := 0; at < len(text); at++ {
		if text[at] == '\\' && at+1 < len(text) && text[at+1] == 'u' {
			if r := hex4(text[at+2:]); r >= 0 && r < utf8.RuneSelf {
				plain = append(plain, byte(r))
				at += 5
				continue
			}
		}
		plain = append(plain, text[at])
	}
	return contains(plain, ascii)
}

// contains is bytes.Contains, without what that package initialises.
func contains(text []byte, word string) bool {
	for at := 0; at+len(word) <= len(text); at++ {
		if text[at] == word[0] && string(text[at:at+len(word)]) == word {
			return true
		}
	}
	return false
}

// hex4 returns the value of four hexadecimal digits, -1 if they are not there.
func hex4(text []byte) rune {
	if len(text) < 4 {
		return -1
	}
	var r rune
	for _, c := range text[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// AppendString appends value as a JSON string. What is not valid UTF-8 becomes U+FFFD.
func AppendString(text []byte, value string) []byte {
	text = append(text, '"')
	for _, r := range value {
		switch {
		case r == '"' || r == '\\':
			text = append(text, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			text = append(text, `\u00`...)
			text = append(text, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			text = utf8.AppendRune(text, r)
		}
	}
	return append(text, '"')
}

// AppendStrings appends values as an array of strings, empty for nil.
func AppendStrings(text []byte, values []string) []byte {
	text = append(text, '[')
	for i, value := range values {
		if i > 0 {
			text = append(text, ',')
		}
		text = AppendString(text, value)
	}
	return append(text, ']')
}

// Object builds the text of an object whose members it is given one by one. The zero value is an empty object.
type Object struct{ text []byte }

// String adds a member that is a string.
func (o *Object) String(key, value string) { o.key(key); o.text = AppendString(o.text, value) }

// Strings adds a member that is an array of strings.
func (o *Object) Strings(key string, values []string) {
	o.key(key)
	o.text = AppendStrings(o.text, values)
}

// Uint adds a member that is a number.
func (o *Object) Uint(key string, value uint64) {
	o.key(key)
	o.text = strconv.AppendUint(o.text, value, 10)
}

// Bool adds a member that is a boolean.
func (o *Object) Bool(key string, value bool) { o.key(key); o.text = strconv.AppendBool(o.text, value) }

// Line returns the object with a line feed at its end.
func (o *Object) Line() []byte {
	if o.text == nil {
		return []byte("{}\n")
	}
	return append(o.text, '}', '\n')
}

func (o *Object) key(key string) {
	if o.text == nil {
		o.text = append(o.text, '{')
	} else {
		o.text = append(o.text, ',')
	}
	o.text = append(AppendString(o.text, key), ':')
}
