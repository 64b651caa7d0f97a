package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// printLines prints each text as one line. All text and errors that the tool prints pass here: they hold names, values
// and texts of configurations, pods, plugins and file names, so nothing in them may end the line or control a terminal.
func printLines(w io.Writer, texts ...string) {
	for _, text := range texts {
		fmt.Fprintln(w, visible(text))
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
	var laid, safe bytes.Buffer
	if indent == "" {
		laid.Write(data)
	} else if err := json.Indent(&laid, data, "", indent); err != nil {
		return err
	}
	for _, r := range laid.String() {
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
	safe.WriteByte('\n')
	_, err = w.Write(safe.Bytes())
	return err
}

// visible writes what cannot be printed as Go does in a string, such as \x1b, \n and \u202e.
func visible(text string) string {
	var b strings.Builder
	for size := 0; len(text) > 0; text = text[size:] {
		var r rune
		r, size = utf8.DecodeRuneInString(text)
		if invalid := r == utf8.RuneError && size == 1; !invalid && strconv.IsPrint(r) {
			b.WriteString(text[:size])
			continue
		}
		quoted := strconv.Quote(text[:size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
