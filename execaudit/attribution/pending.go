package attribution

import (
	"container/heap"
	"slices"
	"time"
)

// pending holds events until their window has passed, in buckets of a second, so that neither their order of arrival
// nor their number costs more than a sort of each bucket.
type pending struct {
	buckets map[int64]*bucket
	seconds secondsHeap
	free    []*bucket
	count   int
	bytes   int
	done    int64 // seconds up to this one were answered
	begun   bool
}

type bucket struct {
	events []waiting
	order  []*waiting // events in the order of their answers; made when the bucket is taken out
	bytes  int
}

// waiting is an answer that knows no more than its event yet, and the process that it is of.
type waiting struct {
	answer  Answer
	process *process
}

func newPending() pending {
	return pending{buckets: map[int64]*bucket{}}
}

func (p *pending) answered(t time.Time) bool {
	return p.begun && t.Unix() <= p.done
}

// add keeps a copy of e and returns its cost in bytes.
func (p *pending) add(e *Event, of *process) int {
	second := e.Time.Unix()
	b := p.buckets[second]
	if b == nil {
		b = p.fresh()
		p.buckets[second] = b
		heap.Push(&p.seconds, second)
	}
	b.add(e, of)
	cost := e.bytes()
	b.bytes += cost
	p.bytes += cost
	p.count++
	return cost
}

// add writes the event where it stays: an append would copy it twice.
func (b *bucket) add(e *Event, of *process) {
	n := len(b.events)
	b.events = slices.Grow(b.events, 1)[:n+1]
	b.events[n].answer.Event, b.events[n].process = *e, of
}

func (p *pending) fresh() *bucket {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return &bucket{}
}

// due reports whether the oldest bucket ends at or before t.
func (p *pending) due(t time.Time) bool {
	return len(p.seconds) > 0 && p.seconds[0] < t.Unix()
}

// pop takes the oldest bucket out, its events in order.
func (p *pending) pop() *bucket {
	second := heap.Pop(&p.seconds).(int64)
	p.done, p.begun = second, true
	return p.take(second)
}

// popAfter takes the latest bucket out if it is after t; nil otherwise. What is before it is not answered by that.
func (p *pending) popAfter(t time.Time) *bucket {
	last := 0
	for i, second := range p.seconds {
		if second > p.seconds[last] {
			last = i
		}
	}
	if len(p.seconds) == 0 || p.seconds[last] <= t.Unix() {
		return nil
	}
	return p.take(heap.Remove(&p.seconds, last).(int64))
}

func (p *pending) take(second int64) *bucket {
	b := p.buckets[second]
	delete(p.buckets, second)
	p.count -= len(b.events)
	p.bytes -= b.bytes
	b.sort()
	return b
}

func (b *bucket) sort() {
	for i := range b.events {
		b.order = append(b.order, &b.events[i])
	}
	slices.SortFunc(b.order, func(x, y *waiting) int { return x.answer.Event.compare(&y.answer.Event) })
}

const maxFreeBuckets = 8

func (p *pending) recycle(b *bucket) {
	if len(p.free) < maxFreeBuckets {
		clear(b.events)
		clear(b.order)
		b.events, b.order, b.bytes = b.events[:0], b.order[:0], 0
		p.free = append(p.free, b)
	}
}

func (e *Event) bytes() int {
	return eventBytes + len(e.Process.ExecID) + len(e.Parent.ExecID) + len(e.Grandparent.ExecID) +
		len(e.AuditID) + len(e.ExecSession) + len(e.RequestUID) + len(e.Command) +
		len(e.Namespace) + len(e.Pod) + len(e.Container) + len(e.ContainerID)
}

type secondsHeap []int64

func (h secondsHeap) Len() int           { return len(h) }
func (h secondsHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h secondsHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *secondsHeap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *secondsHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
