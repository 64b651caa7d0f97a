package podlist

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// documents splits a manifest into its documents: where YAML has a line that begins with "---" or "...", and where one
// JSON value follows another. In YAML such a line ends a document wherever it stands, in the middle of a text too.
func documents(text []byte) [][]byte {
	var out [][]byte
	start, empty := 0, true
	for at := 0; at < len(text); {
		end := at + lineLength(text[at:])
		line := text[at:end]
		switch {
		case isMarker(line, "---"):
			// Comments and directives before the marker belong to the document that it begins.
			if !empty {
				out, start = append(out, values(text[start:at])...), at
			}
			empty = false
		case isMarker(line, "..."):
			if !empty {
				out = append(out, values(text[start:end])...)
			}
			start, empty = end, true
		case !isPreamble(line):
			empty = false
		}
		at = end
	}
	if !empty {
		out = append(out, values(text[start:])...)
	}
	return out
}

func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// isMarker reports whether a line is a document marker, with or without something behind it.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// isPreamble reports whether a line may stand before a document: blank, a comment, a directive.
func isPreamble(line []byte) bool {
	trimmed := bytes.TrimLeft(line, " \t\r\n")
	return len(trimmed) == 0 || trimmed[0] == '#' || line[0] == '%'
}

// values splits a document that begins with a JSON object into the values that follow each other, and what is left when
// it stops being JSON. Any other document is returned as it is.
func values(text []byte) [][]byte {
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] != '{' {
		return [][]byte{text}
	}
	var out [][]byte
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		start := d.InputOffset()
		var value json.RawMessage
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			return append(out, text[start:])
		}
		out = append(out, value)
	}
}
