package authorize

import (
	"context"
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/internal/flight"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// join returns the review of a question that is under way, or a new one; nil with an answer that came meanwhile.
func (c *Cache) join(ctx context.Context, s *shard, k key, spec authorizationv1.SubjectAccessReviewSpec, now time.Time) (authorizationv1.SubjectAccessReviewStatus, *flight.Call[key, authorizationv1.SubjectAccessReviewStatus]) {
	spec = *spec.DeepCopy() // the caller may leave, and reuse its slices
	s.mu.Lock()
	defer s.mu.Unlock()
	if status, found := s.get(k, now); found {
		return status, nil
	}
	call, _ := s.reviews.Join(ctx, k, flight.Options{Limit: c.timeout}, func(run *flight.Run) (authorizationv1.SubjectAccessReviewStatus, error) {
		return c.review(run, s, k, spec, now)
	})
	return authorizationv1.SubjectAccessReviewStatus{}, call
}

// review asks, and remembers the answer unless the run is over: then a later review may have answered since.
func (c *Cache) review(run *flight.Run, s *shard, k key, spec authorizationv1.SubjectAccessReviewSpec, asked time.Time) (authorizationv1.SubjectAccessReviewStatus, error) {
	if c.overdue() >= maxOverdue {
		return authorizationv1.SubjectAccessReviewStatus{}, ErrOverdue
	}
	status, err := ask(run, c.reviewer, spec)
	if ttl := c.ttl(status); err == nil && ttl > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if run.Land() {
			s.put(k, status, asked.Add(ttl))
		}
	}
	return status, err
}

// overdue returns how many reviews were settled before the reviewer returned.
func (c *Cache) overdue() int {
	n := 0
	for i := range c.shards {
		n += c.shards[i].reviews.Overdue()
	}
	return n
}

// wait returns the review's outcome, or the context's error.
func wait(ctx context.Context, call *flight.Call[key, authorizationv1.SubjectAccessReviewStatus]) (authorizationv1.SubjectAccessReviewStatus, error) {
	status, err := call.Wait(ctx)
	switch err.(type) {
	case *flight.LeftError:
		err = ctx.Err()
	case *flight.LimitError:
		err = fmt.Errorf("review: %w", err)
	}
	return status, err
}
