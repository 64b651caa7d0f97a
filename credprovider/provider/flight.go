package provider

import (
	"context"
	"sync"
)

// flights lets equal calls at one time run once.
type flights[K comparable, V any] struct {
	mu      sync.Mutex
	running map[K]*flight[V]
}

type flight[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	value   V
	err     error
}

// do returns what run returns, and whether this call is the one that began it. A caller whose context ends stops waiting at once;
// the run's context ends when the last caller is gone, and only then.
func (f *flights[K, V]) do(ctx context.Context, key K, run func(context.Context) (V, error)) (value V, began bool, err error) {
	if err := ctx.Err(); err != nil {
		return value, false, context.Cause(ctx)
	}
	f.mu.Lock()
	current, joined := f.running[key]
	if !joined {
		current = f.start(ctx, key, run)
	}
	current.waiters++
	f.mu.Unlock()
	select {
	case <-current.done:
		return current.value, !joined, current.err
	case <-ctx.Done():
		f.leave(key, current)
		return value, !joined, context.Cause(ctx)
	}
}

// start is called with the lock held.
func (f *flights[K, V]) start(ctx context.Context, key K, run func(context.Context) (V, error)) *flight[V] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	current := &flight[V]{done: make(chan struct{}), cancel: cancel}
	if f.running == nil {
		f.running = map[K]*flight[V]{}
	}
	f.running[key] = current
	go func() {
		current.value, current.err = run(ctx)
		cancel()
		f.mu.Lock()
		f.forget(key, current)
		f.mu.Unlock()
		close(current.done)
	}()
	return current
}

// leave ends a run that nobody waits for, and keeps later callers from joining it.
func (f *flights[K, V]) leave(key K, current *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if current.waiters--; current.waiters == 0 {
		f.forget(key, current)
		current.cancel()
	}
}

func (f *flights[K, V]) forget(key K, current *flight[V]) {
	if f.running[key] == current {
		delete(f.running, key)
	}
}
