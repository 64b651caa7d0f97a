package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plain returns a name as it is when it is printable ASCII without blanks, quotes and backslashes, else quoted: names
// come from images and dumps, a terminal obeys escape sequences, and blanks could pass for further columns.
func Plain(s string) string {
	if quoted := strconv.QuoteToASCII(s); quoted[1:len(quoted)-1] != s || strings.Contains(s, " ") {
		return quoted
	}
	return s
}

// Line returns a sentence, such as an error's text, as one line that is safe to print: whatever is not printable is
// written as in a Go string, so that control characters, line breaks, invalid UTF-8 and marks that change the direction
// of writing are seen and not obeyed. Quotes in the sentence stay as they are.
func Line(s string) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		if invalid := r == utf8.RuneError && size == 1; invalid || !strconv.IsPrint(r) {
			quoted := strconv.Quote(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
