package flight

import (
	"context"
	"sync"
	"sync/atomic"
)

// Group holds the runs that are under way, at most one for each key. The zero value is ready to use; it must not be
// copied after that. It is safe for concurrent use, and calls no function of its owner while it holds its lock: an
// owner may call it with a lock of its own held.
type Group[K comparable, V any] struct {
	mu      sync.Mutex
	running map[K]*Call[K, V]
	closed  error
	runs    sync.WaitGroup
	overdue atomic.Int64
}

// Do returns the outcome of the run for key, which it begins when there is none, and whether it began it. Options count
// for a run that it begins.
//
// Errors: those of run; *[LeftError] as soon as ctx ends, and at once when it has ended already, in which case nothing
// is begun; *[LimitError]; *[PanicError]; [ErrGoexit]; those given to [Group.End] and [Group.Close].
func (g *Group[K, V]) Do(ctx context.Context, key K, options Options, run func(*Run) (V, error)) (value V, began bool, err error) {
	if ctx.Err() != nil {
		return value, false, &LeftError{Err: context.Cause(ctx)}
	}
	call, began := g.Join(ctx, key, options, run)
	value, err = call.Wait(ctx)
	return value, began, err
}

// Join is the first half of [Group.Do], for an owner that decides with a lock of its own held whether a run is needed:
// it does not block. Every Call is to be waited for, once.
func (g *Group[K, V]) Join(ctx context.Context, key K, options Options, run func(*Run) (V, error)) (call *Call[K, V], began bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	call, joined := g.running[key]
	if !joined {
		call = g.start(ctx, key, options, run)
	}
	call.callers++
	return call, !joined
}

// Start begins a run that nobody waits for yet, and reports false when one is under way or the group is closed.
func (g *Group[K, V]) Start(ctx context.Context, key K, options Options, run func(*Run) (V, error)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, running := g.running[key]; running || g.closed != nil {
		return false
	}
	g.start(ctx, key, options, run)
	return true
}

// Overdue returns how many functions have not returned although nobody waits for them any more: their run has reached
// its limit, was abandoned or was ended. Go cannot end them.
func (g *Group[K, V]) Overdue() int { return int(g.overdue.Load()) }

// End ends the run for key, if there is one: its context ends with err as its cause, and its callers get err at once.
func (g *Group[K, V]) End(key K, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if call, running := g.running[key]; running {
		call.giveUp(err)
	}
}

// Close ends every run as [Group.End] does, and returns when every function has returned. Later callers get err of the
// first Close. It must not be called by a run.
func (g *Group[K, V]) Close(err error) {
	g.mu.Lock()
	if g.closed == nil {
		g.closed = err
	}
	for _, call := range g.running {
		call.giveUp(err)
	}
	g.mu.Unlock()
	g.runs.Wait()
}

// start is called with the lock held.
func (g *Group[K, V]) start(ctx context.Context, key K, options Options, run func(*Run) (V, error)) *Call[K, V] {
	call := &Call[K, V]{group: g, key: key, limit: options.Limit, detached: options.Detached, done: make(chan struct{})}
	if g.closed != nil {
		call.settle(call.value, g.closed)
		return call
	}
	call.prepare(context.WithoutCancel(ctx))
	if g.running == nil {
		g.running = map[K]*Call[K, V]{}
	}
	g.running[key] = call
	g.runs.Add(1)
	go call.fly(run)
	return call
}
