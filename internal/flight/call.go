package flight

import (
	"context"
	"runtime/debug"
	"time"
)

// Run is the context of a run, with what its function may say about it.
type Run struct {
	context.Context
	call interface {
		land() bool
		detach()
	}
	end time.Time // the zero time is none
}

// Deadline returns the moment of the limit.
func (r *Run) Deadline() (time.Time, bool) { return r.end, !r.end.IsZero() }

// Land is for a function that keeps its outcome under a lock of its owner. It takes the run out of its group, so that
// whoever comes next begins a new one, and reports whether the callers will get what the function returns: it is false
// when the run was abandoned, ended or has reached its limit, and a later run may have an outcome by now. After true
// only the function can end the run.
func (r *Run) Land() bool { return r.call.land() }

// Detach lets the run go on when its last caller has left, as [Options] can from the beginning: for a function that
// finds out only later that it needs nobody.
func (r *Run) Detach() { r.call.detach() }

// Call is one run and those who wait for it.
type Call[K comparable, V any] struct {
	group    *Group[K, V]
	key      K
	limit    time.Duration
	detached bool

	run    Run
	cancel context.CancelCauseFunc
	timer  *time.Timer // of the limit; nil without one

	// Guarded by the group's lock.
	callers int
	landed  bool
	settled bool

	done  chan struct{} // closed when value and err are set
	value V
	err   error
}

// Wait returns the run's outcome. Errors are those of [Group.Do]. An outcome that is there is returned, whatever ctx
// says.
func (c *Call[K, V]) Wait(ctx context.Context) (V, error) {
	begin := time.Now()
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
	}
	select {
	case <-c.done:
		return c.value, c.err
	default:
	}
	c.leave()
	var none V
	return none, &LeftError{Waited: time.Since(begin), Err: context.Cause(ctx)}
}

// prepare makes the run's context. It is called with the lock held.
func (c *Call[K, V]) prepare(ctx context.Context) {
	c.run = Run{call: c}
	c.run.Context, c.cancel = context.WithCancelCause(ctx)
	if c.limit > 0 {
		c.run.end = time.Now().Add(c.limit)
		c.timer = time.AfterFunc(c.limit, c.expire) // which waits for the lock
	}
}

// fly calls the function and settles the run, however the function ends.
func (c *Call[K, V]) fly(run func(*Run) (V, error)) {
	defer c.group.runs.Done()
	var value V
	err := ErrGoexit
	defer func() {
		if p := recover(); p != nil {
			err = newPanicError(p, debug.Stack())
		}
		c.finish(value, err)
	}()
	value, err = run(&c.run)
}

// finish tells the callers what the function returned, unless they have been told something else.
func (c *Call[K, V]) finish(value V, err error) {
	c.group.mu.Lock()
	if c.late() {
		c.giveUp(&LimitError{Limit: c.limit})
	}
	if c.settled {
		c.group.overdue.Add(-1)
	} else {
		c.settle(value, err)
	}
	c.group.mu.Unlock()
	c.cancel(nil)
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *Call[K, V]) land() bool {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	if c.late() {
		c.giveUp(&LimitError{Limit: c.limit})
	}
	if c.settled {
		return false
	}
	c.landed = true
	c.forget()
	return true
}

func (c *Call[K, V]) detach() {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	c.detached = true
}

// late reports whether the limit has passed before anything else has happened. It goes by the clock as well: the timer
// that ends the context may fire later than it is due. It is called with the lock held, as are the functions below.
func (c *Call[K, V]) late() bool {
	return c.limit > 0 && !c.settled && !c.landed && !time.Now().Before(c.run.end)
}

// settle sets the outcome and tells everyone.
func (c *Call[K, V]) settle(value V, err error) {
	c.settled, c.value, c.err = true, value, err
	c.forget()
	close(c.done)
}

// giveUp settles a run whose function has not returned.
func (c *Call[K, V]) giveUp(err error) {
	var none V
	c.group.overdue.Add(1) // before the callers hear of it, so that one who looks finds it counted
	c.settle(none, err)
	c.cancel(err)
}

// forget makes room for the next run.
func (c *Call[K, V]) forget() {
	if c.group.running[c.key] == c {
		delete(c.group.running, c.key)
	}
}

// expire takes the lock itself.
func (c *Call[K, V]) expire() {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	if !c.settled && !c.landed {
		c.giveUp(&LimitError{Limit: c.limit})
	}
}

// leave takes the lock itself.
func (c *Call[K, V]) leave() {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	c.callers--
	if c.callers == 0 && !c.detached && !c.settled && !c.landed {
		c.giveUp(ErrAbandoned)
	}
}
