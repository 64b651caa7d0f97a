package attribution

import (
	"iter"
	"slices"
	"time"
)

// queue is first in, first out.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) push(item T) {
	if q.head > 64 && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

func (q *queue[T]) len() int {
	return len(q.items) - q.head
}

func (q *queue[T]) pop() (item T, ok bool) {
	if q.head == len(q.items) {
		return item, false
	}
	var none T
	item, q.items[q.head] = q.items[q.head], none
	q.head++
	return item, true
}

// forget pops what was last of use before over; what keep wants goes to the end, and so does what is of use after ahead:
// a wrong time would hold up what is behind it. It looks at each item at most once.
func (q *queue[T]) forget(over, ahead time.Time, last func(T) time.Time, keep func(T) bool) {
	for left := len(q.items) - q.head; left > 0; left-- {
		at := last(q.items[q.head])
		wrong := at.After(ahead)
		if !wrong && !at.Before(over) {
			return
		}
		if item, _ := q.pop(); wrong || keep(item) {
			q.push(item)
		}
	}
}

// compact takes out what is gone, once that is a third of the queue.
func (q *queue[T]) compact(alive int, gone func(T) bool) {
	if len(q.items)-q.head < alive+alive/2+1024 {
		return
	}
	kept := q.items[:0]
	for _, item := range q.items[q.head:] {
		if !gone(item) {
			kept = append(kept, item)
		}
	}
	clear(q.items[len(kept):])
	q.items, q.head = kept, 0
}

// all yields what is in the queue, the first first.
func (q *queue[T]) all() iter.Seq[T] {
	return slices.Values(q.items[q.head:])
}
