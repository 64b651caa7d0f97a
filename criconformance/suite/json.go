package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
)

// WriteJSON writes the report as one indented JSON document in which every character that cannot be printed is escaped:
// encoding/json escapes those below U+0020 only, and a terminal obeys more, such as DEL, C1 and direction marks.
func (r Report) WriteJSON(w io.Writer) error {
	var plain, safe bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
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
