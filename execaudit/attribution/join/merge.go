// Package join runs sources through a Machine: files side by side in the order of their events' times, or growing
// inputs as they come.
package join

import (
	"context"
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
	// Ended is a file that was read, to its end or not: what became of its lines.
	Ended func(lines.Tally)
}

func (t Trouble) tell(b *lines.Batch) {
	for _, f := range b.Faults {
		if t.Fault != nil {
			t.Fault(f)
		}
	}
	if b.Err != nil && t.Stopped != nil {
		t.Stopped(b.Err)
	}
	if b.Ended != nil && t.Ended != nil {
		t.Ended(*b.Ended)
	}
}

// Files reads every source to its end, always going on with the one that is furthest behind in time, so that all stay
// within the machine's window, and flushes the machine. It returns early, with ctx's error, when ctx is done.
func Files(ctx context.Context, m *attribution.Machine, sources []*lines.Source, trouble Trouble) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var heads []*head
	for _, s := range sources {
		h := &head{batches: s.Read(ctx), trouble: trouble}
		if h.next() {
			heads = append(heads, h)
		}
	}
	for len(heads) > 0 {
		first, until := earliest(heads)
		m.Advance(heads[first].at)
		if !heads[first].run(m, until) {
			heads = append(heads[:first], heads[first+1:]...)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.Flush()
	return nil
}

// earliest returns the head that is furthest behind and how far it may go.
func earliest(heads []*head) (first int, until time.Time) {
	for i, h := range heads[1:] {
		if h.at.Before(heads[first].at) {
			first = i + 1
		}
	}
	until = heads[first].at.Add(time.Second)
	for i, h := range heads {
		if i != first && h.at.Before(until) {
			until = h.at
		}
	}
	return first, until
}

// head is the place in one source.
type head struct {
	batches <-chan *lines.Batch
	trouble Trouble
	batch   *lines.Batch
	at      time.Time // never goes back

	audits, events, records int
}

// next fetches a batch with something in it; false at the source's end.
func (h *head) next() bool {
	if h.batch != nil {
		h.batch.Release()
		h.batch = nil
	}
	for b := range h.batches {
		h.trouble.tell(b)
		if len(b.Audits)+len(b.Events)+len(b.Records) > 0 {
			h.batch, h.audits, h.events, h.records = b, 0, 0, 0
			h.look()
			return true
		}
		b.Release()
	}
	return false
}

// look takes the time of what comes next; false at the batch's end.
func (h *head) look() bool {
	var t time.Time
	switch b := h.batch; {
	case h.audits < len(b.Audits):
		t = b.Audits[h.audits].At
	case h.records < len(b.Records):
		t = b.Records[h.records].Time
	case h.events < len(b.Events):
		t = b.Events[h.events].Time
	default:
		return false
	}
	if t.After(h.at) {
		h.at = t
	}
	return true
}

// run adds what comes next, up to and including the time until; false at the source's end.
func (h *head) run(m *attribution.Machine, until time.Time) bool {
	for {
		h.add(m)
		if !h.look() && !h.next() {
			return false
		}
		if h.at.After(until) {
			return true
		}
	}
}

func (h *head) add(m *attribution.Machine) {
	switch b := h.batch; {
	case h.audits < len(b.Audits):
		m.AddAudit(&b.Audits[h.audits])
		h.audits++
	case h.records < len(b.Records):
		m.AddRecord(&b.Records[h.records])
		h.records++
	default:
		m.AddEvent(&b.Events[h.events])
		h.events++
	}
}
