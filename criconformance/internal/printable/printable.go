// Package printable makes text of others, such as a runtime's, safe to print.
package printable

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Line returns text as one line: line breaks and tabs are spaces, there is no space around it, and what cannot be
// printed is escaped as in a Go string, such as \x1b, \u202e and, for a byte that is no UTF-8, \xff.
func Line(text string) string {
	return escape(strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text)), false)
}

// Lines returns text with its line breaks, and everything else that cannot be printed escaped as Line does.
func Lines(text string) string { return escape(text, true) }

func escape(text string, breaks bool) string {
	var b strings.Builder
	for size := 0; len(text) > 0; text = text[size:] {
		var r rune
		r, size = utf8.DecodeRuneInString(text)
		invalid := r == utf8.RuneError && size == 1
		if !invalid && strconv.IsPrint(r) || breaks && r == '\n' {
			b.WriteString(text[:size])
			continue
		}
		quoted := strconv.Quote(text[:size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
