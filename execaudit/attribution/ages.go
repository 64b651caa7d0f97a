package attribution

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// ages has things by when they were last of use, to the second, and those of one second in the order in which they came.
// One that is of use again is moved when it is looked at, so that use itself costs nothing.
type ages[T any] struct {
	heap []aged[T]
	last func(T) time.Time
	came uint64
}

type aged[T any] struct {
	second int64 // not after that of its last use
	came   uint64
	item   T
}

func (a aged[T]) compare(b aged[T]) int {
	return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.came, b.came))
}

func newAges[T any](last func(T) time.Time) ages[T] {
	return ages[T]{last: last}
}

func (q *ages[T]) push(item T) {
	q.came++
	q.heap = append(q.heap, aged[T]{q.last(item).Unix(), q.came, item})
	q.up(len(q.heap) - 1)
}

// oldest returns what was last of use longest ago; false for none.
func (q *ages[T]) oldest() (item T, ok bool) {
	for len(q.heap) > 0 {
		first := &q.heap[0]
		if second := q.last(first.item).Unix(); second > first.second {
			first.second = second
			q.down()
			continue
		}
		return first.item, true
	}
	return item, false
}

// pop takes out what was last of use longest ago.
func (q *ages[T]) pop() (item T, ok bool) {
	if item, ok = q.oldest(); ok {
		q.drop()
	}
	return item, ok
}

// drop takes the first out.
func (q *ages[T]) drop() {
	end := len(q.heap) - 1
	q.heap[0], q.heap[end] = q.heap[end], aged[T]{}
	q.heap = q.heap[:end]
	q.down()
}

// forget takes out what was last of use before over; what keep wants stays, to be asked about after as long again.
func (q *ages[T]) forget(over, now time.Time, keep func(T) bool) {
	for len(q.heap) > 0 && q.heap[0].second < over.Unix() {
		first := &q.heap[0]
		switch second := q.last(first.item).Unix(); {
		case second >= over.Unix():
			first.second = second
			q.down()
		case keep(first.item):
			first.second = now.Unix()
			q.down()
		default:
			q.drop()
		}
	}
}

// all yields everything in the order in which it came.
func (q *ages[T]) all() iter.Seq[T] {
	sorted := slices.SortedFunc(slices.Values(q.heap), func(a, b aged[T]) int { return cmp.Compare(a.came, b.came) })
	return func(yield func(T) bool) {
		for _, a := range sorted {
			if !yield(a.item) {
				return
			}
		}
	}
}

func (q *ages[T]) up(i int) {
	for i > 0 {
		above := (i - 1) / 2
		if q.heap[above].compare(q.heap[i]) <= 0 {
			return
		}
		q.heap[above], q.heap[i] = q.heap[i], q.heap[above]
		i = above
	}
}

// down moves the first to its place.
func (q *ages[T]) down() {
	for i := 0; ; {
		least := i
		for _, below := range [...]int{2*i + 1, 2*i + 2} {
			if below < len(q.heap) && q.heap[below].compare(q.heap[least]) < 0 {
				least = below
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
