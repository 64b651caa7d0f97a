package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
)

// PrintJSON writes v as indented JSON in which every character that is not printable is escaped. encoding/json escapes
// those below U+0020 only, and a terminal obeys more: DEL, C1, marks that change the direction of writing.
func PrintJSON(w io.Writer, v any) error {
	var plain, safe bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	// Outside of strings there is nothing but printable ASCII and newlines, which the encoder's own layout has.
	for _, r := range plain.String() {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	_, err := w.Write(safe.Bytes())
	return err
}
