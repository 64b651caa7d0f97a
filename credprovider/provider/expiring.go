package provider

import (
	"sync"
	"time"
)

// expiring is a bounded map whose entries end at a time of their own.
type expiring[K comparable, V any] struct {
	mu      sync.RWMutex
	entries map[K]expiringEntry[V]
	limit   int
}

type expiringEntry[V any] struct {
	value V
	ends  time.Time
}

func newExpiring[K comparable, V any](limit int) *expiring[K, V] {
	return &expiring[K, V]{entries: map[K]expiringEntry[V]{}, limit: limit}
}

// get returns the value of key unless it has ended.
func (e *expiring[K, V]) get(key K, now time.Time) (V, bool) {
	e.mu.RLock()
	entry, ok := e.entries[key]
	e.mu.RUnlock()
	if !ok || now.After(entry.ends) {
		var none V
		return none, false
	}
	return entry.value, true
}

// put adds or replaces an entry. At the limit what has ended goes first, then what ends next.
func (e *expiring[K, V]) put(key K, value V, ends, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, replaces := e.entries[key]; !replaces && len(e.entries) >= e.limit {
		e.makeRoom(now)
	}
	e.entries[key] = expiringEntry[V]{value: value, ends: ends}
}

func (e *expiring[K, V]) makeRoom(now time.Time) {
	var next K
	var soonest time.Time
	for key, entry := range e.entries {
		if now.After(entry.ends) {
			delete(e.entries, key)
		} else if soonest.IsZero() || entry.ends.Before(soonest) {
			next, soonest = key, entry.ends
		}
	}
	if len(e.entries) >= e.limit {
		delete(e.entries, next)
	}
}

// drop removes the entries whose key the function reports.
func (e *expiring[K, V]) drop(gone func(K) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key := range e.entries {
		if gone(key) {
			delete(e.entries, key)
		}
	}
}

// len returns the number of entries, ended ones included.
func (e *expiring[K, V]) len() int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return len(e.entries)
}
