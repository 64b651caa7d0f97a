package terminal

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON returns a JSON text with the same meaning in which every character but the line breaks of the layout is
// printable. encoding/json escapes what is below U+0020 only; DEL, C1, and marks that change the direction of writing
// are escaped here, as \u007f and the like, and a byte that is not UTF-8 as \ufffd, which is how decoders read it.
//
// The result is data itself if there is nothing to escape. For what is not JSON it promises printable text only, except
// for characters below U+0020, which stay.
func EscapeJSON(data []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(data); {
		if data[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || !strconv.IsPrint(r) {
			out = appendJSON(append(out, data[from:i]...), r)
			from = i + size
		}
		i += size
	}
	if out == nil {
		return data
	}
	return append(out, data[from:]...)
}

// appendJSON appends a rune as \uXXXX, or as two of them.
func appendJSON(out []byte, r rune) []byte {
	for _, unit := range utf16.AppendRune(nil, r) {
		digits := strconv.FormatUint(0x10000|uint64(unit), 16)
		out = append(append(out, '\\', 'u'), digits[1:]...)
	}
	return out
}
