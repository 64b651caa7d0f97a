package top

import (
	"strings"
	"unicode"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// ellipsis ends a text that was cut.
const ellipsis = "…"

// cell returns the text as one line of exactly width columns, safe to print: cut, or filled with spaces.
func cell(text string, width int) string {
	text = fit(text, width)
	return text + strings.Repeat(" ", max(width-columns(text), 0))
}

// fit returns the text as one line of at most width columns, safe to print.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	// Nobody reads more of it, and one character of a text can become ten.
	if most := 4 * (width + 1); len(text) > most {
		text = text[:most]
	}
	text = terminal.Escape(text)
	if columns(text) <= width {
		return text
	}
	used := 0
	for i, r := range text {
		if used += wide(r); used > width-1 {
			return text[:i] + ellipsis
		}
	}
	return text
}

// columns is how many columns of a terminal the text takes.
func columns(text string) (n int) {
	for _, r := range text {
		n += wide(r)
	}
	return n
}

// wide is how many columns a terminal gives a character: none to a mark on the one before, two to those of East Asia
// and to pictures.
func wide(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
