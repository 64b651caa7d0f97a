package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// bom is the byte order mark of UTF-8, which editors put in front of a file and cat into the middle of one.
const bom = "\ufeff"

// document is one JSON value, or why there is none, and the line it begins at.
type document struct {
	line int
	json []byte
	err  error
}

// documents yields the documents of a text, in order: YAML documents as JSON, and each of several JSON values. Empty
// ones are left out.
func documents(text []byte) iter.Seq[document] {
	return func(yield func(document) bool) {
		for line, chunk := range chunks(bytes.TrimPrefix(text, []byte(bom))) {
			for _, d := range inChunk(line, chunk) {
				if (d.err != nil || string(d.json) != "null") && !yield(d) {
					return
				}
			}
		}
	}
}

// chunks yields what is between the lines that begin or end a YAML document, and the line each begins at. JSON has
// no such lines. What follows a marker on its line belongs to the next document.
func chunks(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		start, from, line, at := 0, 1, 0, 0
		for rest := range bytes.Lines(text) {
			line++
			skip := len(rest) - len(bytes.TrimPrefix(rest, []byte(bom)))
			if begins, ends := marks(rest[skip:], "---"), marks(rest[skip:], "..."); begins || ends {
				if !yield(from, text[start:at]) {
					return
				}
				start, from = at+skip, line
				if ends {
					start += len("...")
				}
			}
			at += len(rest)
		}
		yield(from, text[start:])
	}
}

// marks reports whether a line is a marker, alone or with something after it.
func marks(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// inChunk reads a chunk as JSON values or else as one YAML document. Of JSON with a fault, what stands before the fault
// counts.
func inChunk(line int, chunk []byte) []document {
	skipped, content := content(chunk)
	line += skipped
	if len(content) == 0 {
		return nil
	}
	values := jsonValues(line, content)
	if len(values) > 0 && values[len(values)-1].err == nil {
		return values
	}
	value, err := yamlValue(content)
	switch {
	case err == nil:
		return []document{{line: line, json: value}}
	case len(values) > 1:
		return values
	}
	return []document{{line: line, err: fmt.Errorf("not YAML (render templates first): %w", err)}}
}

// content returns what follows a bare marker, directives, comments and empty lines, and how many lines those are.
func content(chunk []byte) (lines int, rest []byte) {
	for line := range bytes.Lines(chunk) {
		text := bytes.TrimPrefix(line, []byte(bom))
		if lines == 0 && marks(text, "---") {
			text = text[len("---"):]
		}
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '#' && line[0] != '%' {
			break
		}
		lines++
		chunk = chunk[len(line):]
	}
	return lines, bytes.TrimPrefix(chunk, []byte(bom))
}

// jsonValues reads JSON values, one after the other. The last has the fault, if there is one; nil when the first
// character is not JSON's for an object or a list.
func jsonValues(line int, text []byte) []document {
	start := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("---")))
	if len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return nil
	}
	if marks(text, "---") {
		text = text[len("---"):]
	}
	var values []document
	for decoder, at := json.NewDecoder(bytes.NewReader(text)), 0; ; {
		rest := text[at:]
		gap := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
		line += bytes.Count(rest[:gap], []byte("\n"))
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return values
		}
		if err != nil {
			return append(values, document{line: line, err: fmt.Errorf("after a JSON object: %w", err)})
		}
		values = append(values, document{line: line, json: value})
		end := int(decoder.InputOffset())
		line += bytes.Count(text[at+gap:end], []byte("\n"))
		at = end
	}
}

// unread is a YAML value that is looked at for its syntax alone.
type unread struct{}

// UnmarshalYAML keeps nothing.
func (*unread) UnmarshalYAML(func(any) error) error { return nil }

// yamlValue makes JSON of a single YAML document. A duplicate field is a fault, and so is a second document:
// the library reads the first and says nothing.
func yamlValue(text []byte) ([]byte, error) {
	decoder := goyaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&unread{}); err != nil {
		return nil, err
	}
	if err := decoder.Decode(&unread{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("another document follows without a line of --- before it")
	}
	return yaml.YAMLToJSONStrict(text)
}
