package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// maxFaultsShown is how many faults are printed one by one; the rest are counted.
const maxFaultsShown = 20

// faults reports what of the input could not be used, and what of the answers could not be shown.
type faults struct {
	w     io.Writer
	count int
	files []lines.Tally
}

func (f *faults) line(fault *lines.Fault) {
	f.add(fault)
}

func (f *faults) stopped(err error) {
	f.add(err)
}

func (f *faults) ended(file lines.Tally) {
	f.files = append(f.files, file)
}

func (f *faults) add(err error) {
	if f.count++; f.count <= maxFaultsShown {
		fmt.Fprintln(f.w, terminal.Escape(err.Error()))
	}
}

// sum says what became of each file, in the order in which they were given, and how many faults there were.
func (f *faults) sum(order []string) {
	slices.SortStableFunc(f.files, func(a, b lines.Tally) int { return slices.Index(order, a.File) - slices.Index(order, b.File) })
	outOfOrder := false
	for i := range f.files {
		fmt.Fprintln(f.w, terminal.Escape(f.files[i].String()))
		outOfOrder = outOfOrder || f.files[i].OutOfOrder > 0
	}
	if outOfOrder {
		fmt.Fprintln(f.w, "what is out of order in its file may have come too late for its answer: give each log as a file, not several behind each other in one")
	}
	switch f.count {
	case 0:
	case 1:
		fmt.Fprintln(f.w, "1 fault; the answers are from the rest")
	default:
		fmt.Fprintf(f.w, "%d faults; the answers are from the rest\n", f.count)
	}
}
