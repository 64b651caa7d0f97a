package main

import (
	"fmt"
	"io"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// maxFaultsShown is how many faults are printed one by one; the rest are counted.
const maxFaultsShown = 20

// faults reports what of the input could not be used, and what of the answers could not be shown.
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
	switch f.count {
	case 0:
	case 1:
		fmt.Fprintln(f.w, "1 fault; the answers are from the rest")
	default:
		fmt.Fprintf(f.w, "%d faults; the answers are from the rest\n", f.count)
	}
}
