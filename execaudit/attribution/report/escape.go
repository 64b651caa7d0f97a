package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
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

// printable returns JSON that means the same and prints as text: encoding/json lets the controls behind ASCII pass, and what turns the
// direction of text. It may return data itself.
func printable(data []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf-1 { // the last of ASCII is a control
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if !unicode.IsPrint(r) {
			out = appendEscape(append(out, data[from:i]...), r)
			from = i + size
		}
		i += size
	}
	if out == nil {
		return data
	}
	return append(out, data[from:]...)
}

// appendEscape appends a rune as JSON's \uXXXX, or two of them.
func appendEscape(out []byte, r rune) []byte {
	for _, unit := range utf16.AppendRune(nil, r) {
		digits := strconv.FormatUint(0x10000|uint64(unit), 16)
		out = append(append(out, '\\', 'u'), digits[1:]...)
	}
	return out
}
