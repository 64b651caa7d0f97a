// Package printable lays out text of others, such as a runtime's, so that it is safe to print.
package printable

import (
	"strings"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

var blanks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// Line returns text as one line: line breaks and tabs are spaces, there is no space around it, and everything else that
// cannot be printed is escaped by terminal.Escape.
func Line(text string) string { return terminal.Escape(strings.TrimSpace(blanks.Replace(text))) }

// Lines returns text with its line breaks, each line escaped by terminal.Escape.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = terminal.Escape(line)
	}
	return strings.Join(lines, "\n")
}
