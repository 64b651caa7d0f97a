package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// faults are errors beside which a command went on.
type faults []error

func (f faults) Error() string {
	var texts []string
	for _, err := range f {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

func (f faults) Unwrap() []error { return f }

// add appends err, if any, with its place before it.
func (f *faults) add(place string, err error) {
	if err != nil {
		*f = append(*f, fmt.Errorf("%s: %w", place, err))
	}
}

// printError writes err for people, each of several faults as a line of its own. Every error passes here, since its
// text can contain what an image, a registry, a manifest or a file's name says.
func printError(w io.Writer, err error) {
	all, ok := err.(faults)
	if !ok {
		all = faults{err}
	}
	for _, err := range all {
		fmt.Fprintf(w, "supgroups: %s\n", terminal.Escape(err.Error()))
	}
}
