package join

import (
	"context"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

const (
	// leap is how far one step in time goes without a doubt.
	leap = time.Minute
	// witnesses is how much of what follows is asked whether a step of a leap ahead is true.
	witnesses = 8
)

// head is the place in one file.
type head struct {
	source  *lines.Source
	trouble Trouble
	batches <-chan *lines.Batch
	batch   *lines.Batch
	i       int            // in batch: what comes next
	ahead   []*lines.Batch // behind batch: was looked at
	at      time.Time      // never goes back
	sure    bool           // at was confirmed
	sum     lines.Tally
	read    bool // sum is the whole file's
	ended   bool // all of it was added
}

// start opens the file; false if it told nothing.
func (h *head) start(ctx context.Context) bool {
	h.batches, h.at = h.source.Read(ctx), time.Time{}
	return h.next()
}

// run adds what comes next, up to and including the time until; false at the file's end.
func (h *head) run(m *attribution.Machine, until time.Time) bool {
	for {
		h.add(m)
		if h.i == size(h.batch) {
			if !h.next() {
				return false
			}
		} else {
			h.look()
		}
		if h.at.After(until) {
			return true
		}
	}
}

func (h *head) add(m *attribution.Machine) {
	b, i := h.batch, h.i
	h.i++
	if i < len(b.Audits) {
		m.AddAudit(&b.Audits[i])
		return
	}
	if i -= len(b.Audits); i < len(b.Records) {
		m.AddRecord(&b.Records[i])
		return
	}
	m.AddEvent(&b.Events[i-len(b.Records)])
}

// fetch reads a batch with something in it; nil at the file's end.
func (h *head) fetch() *lines.Batch {
	for b := range h.batches {
		h.trouble.faults(b)
		if b.Ended != nil {
			out, by := h.sum.OutOfOrder, h.sum.OutOfOrderBy
			h.sum, h.read = *b.Ended, true
			h.sum.OutOfOrder, h.sum.OutOfOrderBy = out, by
		}
		if size(b) > 0 {
			return b
		}
		b.Release()
	}
	return nil
}

// next goes to the next batch; false at the file's end.
func (h *head) next() bool {
	if h.batch != nil {
		h.batch.Release()
	}
	h.batch, h.i = nil, 0
	if len(h.ahead) > 0 {
		h.batch, h.ahead = h.ahead[0], h.ahead[1:]
	} else {
		h.batch = h.fetch()
	}
	if h.batch == nil {
		h.ended = h.read
		return false
	}
	h.look()
	return true
}

func size(b *lines.Batch) int {
	return len(b.Audits) + len(b.Records) + len(b.Events)
}

// timeOf returns the time of what is i-th in the batch.
func timeOf(b *lines.Batch, i int) time.Time {
	if i < len(b.Audits) {
		return b.Audits[i].At
	}
	i -= len(b.Audits)
	if i < len(b.Records) {
		return b.Records[i].Time
	}
	return b.Events[i-len(b.Records)].Time
}

// look takes the time of what comes next, unless that is wrong: then it is added without waiting for its time.
func (h *head) look() {
	t := timeOf(h.batch, h.i)
	step := t.Sub(h.at)
	switch {
	case step <= -leap:
		h.sum.OutOfOrder++
		h.sum.OutOfOrderBy = max(h.sum.OutOfOrderBy, -step)
	case step <= 0:
	case step < leap:
		h.at = t
	default:
		h.leap(t)
	}
}

// leap goes to a time far ahead when most of what follows confirms it. What nothing follows may be as wrong: its time is
// waited for, but told to nobody.
func (h *head) leap(t time.Time) {
	asked, against := 0, 0
	for asked < witnesses {
		w, ok := h.peek(asked + 1)
		if !ok {
			break
		}
		if asked++; t.Sub(w) >= leap {
			against++
		}
	}
	if 2*against <= asked {
		h.at, h.sure = t, asked > 0
	}
}

// peek returns the time of what comes k-th after the next; false behind the file's end.
func (h *head) peek(k int) (time.Time, bool) {
	b, i := h.batch, h.i+k
	for next := 0; i >= size(b); next++ {
		if next == len(h.ahead) {
			fetched := h.fetch()
			if fetched == nil {
				return time.Time{}, false
			}
			h.ahead = append(h.ahead, fetched)
		}
		i -= size(b)
		b = h.ahead[next]
	}
	return timeOf(b, i), true
}
