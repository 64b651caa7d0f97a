package provider

import (
	"runtime"
	"time"
)

// AwaitWaiters returns when n callers wait for the runs of the pool's providers. It lets a test end a run knowing who
// has joined it, which no behaviour seen from outside tells.
func AwaitWaiters(p *Pool, n int) {
	for waiters(p) != n {
		runtime.Gosched()
	}
}

func waiters(p *Pool) int {
	sum := 0
	for _, m := range p.members {
		m.flights.mu.Lock()
		for _, f := range m.flights.running {
			sum += f.waiters
		}
		m.flights.mu.Unlock()
	}
	return sum
}

// TokenCache is the cache of a pool's tokens.
type TokenCache = tokenCache

// NewTokenCache lets tests look at the cache alone.
func NewTokenCache(source TokenSource, now func() time.Time, limit int) *TokenCache {
	return newTokenCache(source, now, limit)
}

// Len returns the number of tokens that are kept, those that have expired since included.
func (c *tokenCache) Len() int { return c.tokens.len() }
