package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// line prints one line. Everything that the tool prints passes here: names, texts and errors come from kubeconfigs,
// plugins and file names, so nothing in them may end the line or control a terminal.
func line(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = text(err)
		}
	}
	fmt.Fprintln(w, terminal.Escape(fmt.Sprintf(format, args...)))
}

// text returns an error's text, with semicolons where errors.Join puts line breaks.
func text(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// named quotes a name that is empty, has blanks or cannot be printed: it could pass for more than one.
func named(name string) string {
	if name == "" || strings.Contains(name, " ") || terminal.Escape(name) != name {
		return strconv.Quote(name)
	}
	return name
}
