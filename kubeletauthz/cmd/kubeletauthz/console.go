package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// console is where a command reads and writes.
type console struct {
	in   io.Reader
	out  io.Writer
	errs io.Writer
}

// line prints one line on standard output, and note one on standard error. Names and texts of inputs stand in both, so
// nothing in them can end the line or control a terminal.
func (c console) line(format string, args ...any) {
	fmt.Fprintln(c.out, visible(fmt.Sprintf(format, args...)))
}

func (c console) note(format string, args ...any) {
	fmt.Fprintln(c.errs, visible(fmt.Sprintf(format, args...)))
}

// visible writes what cannot be printed as Go does in a string, such as \x1b, \n and \u202e.
func visible(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if strconv.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(text[:n])
		} else {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}
