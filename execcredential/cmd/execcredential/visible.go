package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// line prints one line. Everything that the tool prints passes here: names, texts and errors come from kubeconfigs,
// plugins and file names, so nothing in them may end the line or control a terminal.
func line(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = text(err)
		}
	}
	fmt.Fprintln(w, visible(fmt.Sprintf(format, args...)))
}

// text returns an error's text, with semicolons where errors.Join puts line breaks.
func text(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

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

// named quotes a name that is empty, has blanks or cannot be printed: it could pass for more than one.
func named(name string) string {
	if name == "" || strings.Contains(name, " ") || visible(name) != name {
		return strconv.Quote(name)
	}
	return name
}
