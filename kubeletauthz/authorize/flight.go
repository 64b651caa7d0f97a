package authorize

import (
	"context"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// flight is one review that is under way, and those who wait for it. It is settled once: by the answer, by the end of its
// time, or when the last caller leaves; what the reviewer returns after that is dropped.
type flight struct {
	waiting int                // guarded by the shard's lock
	settled bool               // guarded by the shard's lock
	ctx     context.Context    // ends with the flight's time, or when it is settled
	cancel  context.CancelFunc // ends ctx
	done    chan struct{}      // closed when status and err are set
	status  authorizationv1.SubjectAccessReviewStatus
	err     error
}

// errAbandoned is the outcome of a Reviewer that ended its goroutine instead of returning.
var errAbandoned = errors.New("reviewer did not return")

// start begins a review; the shard's lock is held. The review outlives the context of whoever asked first, because others
// may join, but keeps its values.
func (c *Cache) start(ctx context.Context, s *shard, k key, spec authorizationv1.SubjectAccessReviewSpec, asked time.Time) (*flight, error) {
	if c.overdue.Load() >= maxOverdue {
		return nil, ErrOverdue
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	f := &flight{ctx: ctx, cancel: cancel, done: make(chan struct{})}
	s.flights[k] = f
	spec = *spec.DeepCopy() // the caller may leave, and reuse its slices
	go func() {
		status, err := authorizationv1.SubjectAccessReviewStatus{}, errAbandoned
		defer func() { c.land(s, k, f, status, err, asked) }()
		status, err = ask(ctx, c.reviewer, spec)
	}()
	return f, nil
}

// land remembers the answer and tells everyone, unless the flight is settled: then a later review may have answered since.
func (c *Cache) land(s *shard, k key, f *flight, status authorizationv1.SubjectAccessReviewStatus, err error, asked time.Time) {
	if err == nil && f.late() {
		status, err = authorizationv1.SubjectAccessReviewStatus{}, c.lateError()
	}
	s.mu.Lock()
	if !s.settle(k, f, status, err) {
		c.overdue.Add(-1)
	} else if ttl := c.ttl(status); err == nil && ttl > 0 {
		s.put(k, status, asked.Add(ttl))
	}
	s.mu.Unlock()
	f.cancel()
}

// late goes by the clock as well: the timer that ends the context may fire later than it is due.
func (f *flight) late() bool {
	end, _ := f.ctx.Deadline()
	return f.ctx.Err() != nil || !time.Now().Before(end)
}

func (c *Cache) lateError() error {
	return fmt.Errorf("no answer within %v: %w", c.timeout, context.DeadlineExceeded)
}

// settle sets the outcome, tells everyone and makes room for the next review of the same question; the lock is held. It
// returns false when that was done before.
func (s *shard) settle(k key, f *flight, status authorizationv1.SubjectAccessReviewStatus, err error) bool {
	if f.settled {
		return false
	}
	f.settled, f.status, f.err = true, status, err
	delete(s.flights, k)
	close(f.done)
	return true
}

// wait returns the review's outcome, or the context's error. It does not wait for the reviewer longer than for its timeout.
func (c *Cache) wait(ctx context.Context, s *shard, k key, f *flight) (authorizationv1.SubjectAccessReviewStatus, error) {
	select {
	case <-f.done:
	case <-f.ctx.Done():
		c.giveUp(s, k, f)
	case <-ctx.Done():
		c.leave(s, k, f)
		return authorizationv1.SubjectAccessReviewStatus{}, ctx.Err()
	}
	return f.status, f.err
}

// giveUp settles a flight whose time is over.
func (c *Cache) giveUp(s *shard, k key, f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settle(k, f, authorizationv1.SubjectAccessReviewStatus{}, c.lateError()) {
		c.overdue.Add(1)
	}
}

// leave settles a flight that nobody waits for any more, so that nobody joins a review that is about to fail.
func (c *Cache) leave(s *shard, k key, f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.waiting--
	if f.waiting == 0 && s.settle(k, f, authorizationv1.SubjectAccessReviewStatus{}, context.Canceled) {
		c.overdue.Add(1)
		f.cancel()
	}
}
