package authorize

import (
	"context"
	"errors"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// flight is one review that is under way, and those who wait for it.
type flight struct {
	waiting int // guarded by the shard's lock
	cancel  context.CancelFunc
	done    chan struct{} // closed when status and err are set
	status  authorizationv1.SubjectAccessReviewStatus
	err     error
}

// errAbandoned is the outcome of a Reviewer that ended its goroutine instead of returning.
var errAbandoned = errors.New("reviewer did not return")

// start begins a review; the shard's lock is held. The review outlives the context of whoever asked first, because others
// may join, but keeps its values.
func (c *Cache) start(ctx context.Context, s *shard, k key, spec authorizationv1.SubjectAccessReviewSpec, asked time.Time) *flight {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	f := &flight{cancel: cancel, done: make(chan struct{}), err: errAbandoned}
	s.flights[k] = f
	spec = *spec.DeepCopy() // the caller may leave, and reuse its slices
	go func() {
		defer c.land(s, k, f, asked)
		f.status, f.err = c.ask(ctx, spec)
	}()
	return f
}

// ask makes an answer that contradicts itself an error.
func (c *Cache) ask(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	status, err := c.reviewer.Review(ctx, spec)
	if err == nil && status.Allowed && status.Denied {
		err = ErrContradiction
	}
	if err != nil {
		return authorizationv1.SubjectAccessReviewStatus{}, err
	}
	return status, nil
}

// land remembers the answer, tells everyone and makes room for the next review of the same question. A review that everyone
// left is not remembered: a later one may have answered since.
func (c *Cache) land(s *shard, k key, f *flight, asked time.Time) {
	s.mu.Lock()
	if s.flights[k] == f {
		delete(s.flights, k)
		if ttl := c.ttl(f.status); f.err == nil && ttl > 0 {
			s.put(k, f.status, asked.Add(ttl))
		}
	}
	s.mu.Unlock()
	f.cancel()
	close(f.done)
}

// wait returns the review's outcome, or the context's error. The last to leave cancels the review and clears its place, so
// that nobody joins a review that is about to fail.
func (s *shard) wait(ctx context.Context, k key, f *flight) (authorizationv1.SubjectAccessReviewStatus, error) {
	select {
	case <-f.done:
		return f.status, f.err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.waiting--
	if f.waiting == 0 {
		f.cancel()
		if s.flights[k] == f {
			delete(s.flights, k)
		}
	}
	return authorizationv1.SubjectAccessReviewStatus{}, ctx.Err()
}
