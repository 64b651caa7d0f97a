package main

import (
	"fmt"
	"io"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// maxFaultsShown is how many faults are printed one by one; the rest are counted.
const maxFaultsShown = 20

// faults reports what of the input could not be used.
type faults struct {
	w     io.Writer
	count int
}

func (f *faults) line(fault *lines.Fault) {
	f.add(fault)
}

func (f *faults) stopped(err error) {
	f.add(err)
}

func (f *faults) add(err error) {
	if f.count++; f.count <= maxFaultsShown {
		fmt.Fprintln(f.w, err)
	}
}

func (f *faults) sum() {
	if f.count > 0 {
		fmt.Fprintf(f.w, "%d lines or files could not be used\n", f.count)
	}
}
