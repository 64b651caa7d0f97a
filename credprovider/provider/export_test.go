package provider

import (
	"runtime"
	"strings"
	"time"
)

// AwaitWaiters returns when n callers wait for runs of providers, in this process. It lets a test end a run knowing who
// has joined it, which no behaviour seen from outside tells.
func AwaitWaiters(n int) {
	for waiters() != n {
		runtime.Gosched()
	}
}

// waiters counts the goroutines that wait for a run of a member. Those that wait for a token are others.
func waiters() int {
	stacks := make([]byte, 1<<20) // 1 MiB
	stacks = stacks[:runtime.Stack(stacks, true)]
	sum := 0
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "[select") && strings.Contains(stack, ".Wait(") && strings.Contains(stack, "(*member).answer") && !strings.Contains(stack, "(*tokenCache)") {
			sum++
		}
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
