// Package join runs sources through a Machine: files side by side in the order of their events' times, or growing
// inputs as they come.
package join

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// Trouble receives what could not be used, in the goroutine that joins. Each function may be nil.
type Trouble struct {
	// Fault is a line, or a file of which nothing could be used.
	Fault func(*lines.Fault)
	// Stopped is a file that could not be read to its end.
	Stopped func(error)
	// Ended is a file that was read, to its end or not: what became of its lines. Files tells it in the order in which the
	// files were given.
	Ended func(lines.Tally)
}

func (t Trouble) tell(b *lines.Batch) {
	t.faults(b)
	if b.Ended != nil && t.Ended != nil {
		t.Ended(*b.Ended)
	}
}

func (t Trouble) faults(b *lines.Batch) {
	for _, f := range b.Faults {
		if t.Fault != nil {
			t.Fault(f)
		}
	}
	if b.Err != nil && t.Stopped != nil {
		t.Stopped(b.Err)
	}
}

// Files reads every file of every source to its end, always going on with the one that is furthest behind in time, so
// that all stay within the machine's window, and flushes the machine. The files of a source may be in any order, and
// their times may overlap. A file is opened when the others have come to its lines.Source.Begin. It returns early, with
// ctx's error, when ctx is done.
//
// A time that is a minute and more ahead is only believed, and told to the machine, when most of the evidence that
// follows in the file is not before it: a line with a wrong time changes nothing but its own answer. What is a minute and
// more behind counts in Tally.OutOfOrder.
func Files(ctx context.Context, m *attribution.Machine, sources []*lines.Source, trouble Trouble) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := newMerge(ctx, m, sources, trouble)
	for ctx.Err() == nil && g.step() {
	}
	g.tellEnded(g.files)
	if err := ctx.Err(); err != nil {
		return err
	}
	m.Flush()
	return nil
}

// merge is one run over files.
type merge struct {
	ctx     context.Context
	machine *attribution.Machine
	trouble Trouble
	files   []*head // as they were given, from the first of which the end is not told yet
	waiting []*head // not opened, by their at
	open    []*head
}

func newMerge(ctx context.Context, m *attribution.Machine, sources []*lines.Source, trouble Trouble) *merge {
	g := &merge{ctx: ctx, machine: m, trouble: trouble}
	for _, s := range sources {
		progress := oneByOne(s.Progress)
		for _, f := range s.Files {
			one := *s
			one.Files, one.Progress = []lines.Opener{f}, progress
			g.files = append(g.files, &head{source: &one, trouble: trouble, at: one.Begin()})
		}
	}
	g.waiting = slices.Clone(g.files)
	slices.SortStableFunc(g.waiting, func(a, b *head) int { return a.at.Compare(b.at) })
	return g
}

// oneByOne lets several readings of a source share a function that is for one goroutine.
func oneByOne(progress func(int)) func(int) {
	if progress == nil {
		return nil
	}
	var turn sync.Mutex
	return func(n int) {
		turn.Lock()
		defer turn.Unlock()
		progress(n)
	}
}

// step opens the next file or goes on with the one that is furthest behind; false after the last.
func (g *merge) step() bool {
	first, until := g.earliest()
	switch {
	case len(g.waiting) > 0 && (first < 0 || !g.waiting[0].at.After(g.open[first].at)):
		h := g.waiting[0]
		g.waiting = g.waiting[1:]
		if h.start(g.ctx) {
			g.open = append(g.open, h)
		}
	case first < 0:
		return false
	default:
		h := g.open[first]
		if h.sure {
			g.machine.Advance(h.at)
		}
		if !h.run(g.machine, until) {
			g.open = slices.Delete(g.open, first, first+1)
		}
	}
	g.tellEnded(ended(g.files))
	return true
}

// earliest returns which open file is furthest behind, -1 for none, and how far it may go.
func (g *merge) earliest() (first int, until time.Time) {
	if len(g.open) == 0 {
		return -1, until
	}
	for i, h := range g.open {
		if h.at.Before(g.open[first].at) {
			first = i
		}
	}
	until = g.open[first].at.Add(time.Second)
	if len(g.waiting) > 0 && g.waiting[0].at.Before(until) {
		until = g.waiting[0].at
	}
	for i, h := range g.open {
		if i != first && h.at.Before(until) {
			until = h.at
		}
	}
	return first, until
}

// ended returns the files up to the first that has not ended.
func ended(files []*head) []*head {
	n := slices.IndexFunc(files, func(h *head) bool { return !h.ended })
	if n < 0 {
		n = len(files)
	}
	return files[:n]
}

// tellEnded tells what became of the first files, as far as they ended.
func (g *merge) tellEnded(files []*head) {
	for _, h := range files {
		if h.ended && g.trouble.Ended != nil {
			g.trouble.Ended(h.sum)
		}
	}
	g.files = g.files[len(files):]
}
