package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns text for people: what a terminal or a browser would act on instead of showing it is a dot.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return '·'
	}, text)
}
