package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// printLines prints each text as one line. All text and errors that the tool prints pass here: they hold names, values
// and texts of configurations, pods, plugins and file names, so nothing in them may end the line or control a terminal.
func printLines(w io.Writer, texts ...string) {
	for _, text := range texts {
		fmt.Fprintln(w, terminal.Escape(text))
	}
}

// faultLines returns the text of err, or of each error that was joined with line breaks, as [credprovider.Faults] are.
func faultLines(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var direct, all []string
	for _, part := range joined.Unwrap() {
		direct, all = append(direct, part.Error()), append(all, faultLines(part)...)
	}
	if strings.Join(direct, "\n") != err.Error() {
		return []string{err.Error()}
	}
	return all
}

// linesOf returns the lines of a report, which ends each with a line break.
func linesOf(report fmt.Stringer) []string {
	return strings.Split(strings.TrimSuffix(report.String(), "\n"), "\n")
}

// printJSON prints v as JSON, indented if indent is not empty. What cannot be printed is escaped: encoding/json escapes
// characters below U+0020 only, and a terminal obeys more, such as DEL, C1 and marks that change the direction of
// writing.
func printJSON(w io.Writer, v any, indent string) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var laid bytes.Buffer
	if indent == "" {
		laid.Write(data)
	} else if err := json.Indent(&laid, data, "", indent); err != nil {
		return err
	}
	laid.WriteByte('\n')
	_, err = w.Write(terminal.EscapeJSON(laid.Bytes()))
	return err
}
