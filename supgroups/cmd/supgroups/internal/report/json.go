package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// PrintJSON writes v as indented JSON in which every character that is not printable is escaped. encoding/json escapes
// those below U+0020 only, and a terminal obeys more: DEL, C1, marks that change the direction of writing.
func PrintJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(terminal.EscapeJSON(b.Bytes()))
	return err
}
