package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape returns text as one line in which every character is printable, as [strconv.IsPrint] defines it: anything
// else, line breaks and bytes that are not UTF-8 among them, is written as in a Go string, such as \x1b, \n, \u202e or
// \xff. Printable text is returned unchanged, backslashes and quotes included, so that different texts can have the
// same result: quote a text that must be told from others.
func Escape(text string) string {
	at := unprintable(text)
	if at == len(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		b.WriteString(text[:at])
		if text = text[at:]; text == "" {
			break
		}
		_, size := utf8.DecodeRuneInString(text)
		quoted := strconv.Quote(text[:size])
		b.WriteString(quoted[1 : len(quoted)-1])
		text = text[size:]
		at = unprintable(text)
	}
	return b.String()
}

// unprintable returns the index of the first character to be escaped, or len(text).
func unprintable(text string) int {
	for i := 0; i < len(text); {
		if c := text[i]; ' ' <= c && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || !strconv.IsPrint(r) {
			return i
		}
		i += size
	}
	return len(text)
}
