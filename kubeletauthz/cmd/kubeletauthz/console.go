package main

import (
	"fmt"
	"io"

	"github.com/lanyard-dev/lanyard/internal/terminal"
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
	fmt.Fprintln(c.out, terminal.Escape(fmt.Sprintf(format, args...)))
}

func (c console) note(format string, args ...any) {
	fmt.Fprintln(c.errs, terminal.Escape(fmt.Sprintf(format, args...)))
}
