package runtimeconf

import (
	"bytes"
	"fmt"
	"strings"
)

// Mark stands in the lines before and behind what an edit inserts.
const Mark = "# lanyard-bridge:"

// Edit is one change of a file.
type Edit struct {
	// Path is the file.
	Path string `json:"path"`
	// Create: there was no file before.
	Create bool `json:"create,omitempty"`
	// Inserted is what stands there now, with its marks.
	Inserted string `json:"inserted"`
	// Replaced is what stood in its place.
	Replaced string `json:"replaced,omitempty"`
}

// Patch is an edit and the texts around it; Before is nil where there was no file.
type Patch struct {
	Edit
	Before, After []byte
}

// Applied tells whether the text has the edit.
func (e Edit) Applied(text []byte) bool { return bytes.Count(text, []byte(e.Inserted)) == 1 }

// Undo returns the text without the edit; an empty text where the edit created the file and nothing else is in it. Its
// error is [ErrNotFound].
func (e Edit) Undo(text []byte) ([]byte, error) {
	if !e.Applied(text) {
		return nil, fmt.Errorf("%s: %w: between %s begin and end", e.Path, ErrNotFound, Mark)
	}
	return bytes.Replace(text, []byte(e.Inserted), []byte(e.Replaced), 1), nil
}

// Gone tells whether the text has none of the edit's marks: it was never made, or the file was replaced by another.
func (e Edit) Gone(text []byte) bool {
	for line := range strings.Lines(e.Inserted) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, Mark) && bytes.Contains(text, []byte(line)) {
			return false
		}
	}
	return true
}

// begin and end are the marks around a handler's lines; note goes behind the first.
func begin(handler, note string) string {
	return strings.TrimRight(fmt.Sprintf("%s begin %q %s", Mark, handler, note), " ")
}

func end(handler string) string { return fmt.Sprintf("%s end %q", Mark, handler) }

// place returns the patch that puts the text into [from, to) of the file's.
func place(path string, text []byte, from, to int, inserted string) Patch {
	after := make([]byte, 0, len(text)+len(inserted))
	after = append(append(append(after, text[:from]...), inserted...), text[to:]...)
	return Patch{Edit: Edit{Path: path, Create: text == nil, Inserted: inserted, Replaced: string(text[from:to])}, Before: text, After: after}
}

// appendBlock returns the patch that adds the block, which ends with a newline, at the text's end.
func appendBlock(path string, text []byte, block string) Patch {
	if n := len(text); n > 0 && text[n-1] != '\n' {
		block = "\n" + block
	}
	return place(path, text, len(text), len(text), block)
}
