package attribution

import (
	"iter"
	"slices"
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

func (q *queue[T]) pop() (item T, ok bool) {
	if q.head == len(q.items) {
		return item, false
	}
	var none T
	item, q.items[q.head] = q.items[q.head], none
	q.head++
	return item, true
}

// popWhile pops while over says so; what keep wants goes to the end. It looks at each item at most once.
func (q *queue[T]) popWhile(over, keep func(T) bool) {
	for left := len(q.items) - q.head; left > 0 && over(q.items[q.head]); left-- {
		if item, _ := q.pop(); keep(item) {
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
