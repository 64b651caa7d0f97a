package suite

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// WriteJSON writes the report as one indented JSON document in which every character that cannot be printed is escaped:
// encoding/json escapes those below U+0020 only, and a terminal obeys more, such as DEL, C1 and direction marks.
func (r Report) WriteJSON(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(terminal.EscapeJSON(b.Bytes()))
	return err
}
