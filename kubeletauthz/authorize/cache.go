package authorize

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Defaults of a Cache: the kubelet's times and size.
const (
	DefaultAllowTTL = 5 * time.Minute
	DefaultDenyTTL  = 30 * time.Second
	DefaultEntries  = 8192
	DefaultTimeout  = 10 * time.Second
)

// maxReasonBytes is how much of an answer's reason and of its evaluation error is remembered.
const maxReasonBytes = 1 << 10 // 1 KiB

// maxOverdue is how many reviews may be overdue at once, that is without an answer after their timeout, or after their
// last caller left, before a Cache starts no more.
const maxOverdue = 1 << 10

// shards is how many locks the cache has. The hash of a question decides which one it takes.
const shards = 64

// CacheOptions configure a Cache. The zero value is the kubelet's configuration.
type CacheOptions struct {
	// AllowTTL is how long an allow is remembered, counted from the question. Zero is DefaultAllowTTL, negative is not
	// at all.
	AllowTTL time.Duration
	// DenyTTL is the same for a denial or no opinion. Zero is DefaultDenyTTL, negative is not at all.
	DenyTTL time.Duration
	// Entries is how many answers are remembered at most; the least recently used go first. Below 1 is DefaultEntries.
	Entries int
	// Timeout bounds one review, whoever waits for it and whether or not the Reviewer observes its context: an answer
	// that comes later never counts. Below 1 is DefaultTimeout.
	Timeout time.Duration
	// Now is the clock that answers age by; nil is time.Now.
	Now func() time.Time
}

// Cache is a Reviewer that remembers another's answers. Make it with [NewCache]; it is safe for concurrent use and has
// no lock that every question takes. Of an answer's reason and of its evaluation error it keeps 1 KiB.
//
// The whole question is the key: user, UID, groups in their order, extra and every attribute. Equal questions at the
// same time are asked once. Errors are never remembered, nor is an answer that contradicts itself.
//
// A Reviewer that panics denies, as an error. One that does not return denies at the timeout; its goroutine stays until
// it returns, because Go cannot end it, and its late answer is dropped. With 1,024 of those no review is started: what
// is not remembered gets [ErrOverdue] until one returns. Reviews whose callers still wait are bounded by the callers.
type Cache struct {
	reviewer          Reviewer
	allowTTL, denyTTL time.Duration
	timeout           time.Duration
	now               func() time.Time
	shards            [shards]shard
}

var _ Reviewer = (*Cache)(nil)

// NewCache returns an empty Cache around reviewer.
func NewCache(reviewer Reviewer, o CacheOptions) *Cache {
	c := &Cache{
		reviewer: reviewer,
		allowTTL: orDefault(o.AllowTTL, DefaultAllowTTL),
		denyTTL:  orDefault(o.DenyTTL, DefaultDenyTTL),
		timeout:  max(o.Timeout, 0),
		now:      o.Now,
	}
	c.timeout = orDefault(c.timeout, DefaultTimeout)
	if c.now == nil {
		c.now = time.Now
	}
	entries := o.Entries
	if entries < 1 {
		entries = DefaultEntries
	}
	for i := range c.shards {
		room := entries / shards
		if i < entries%shards {
			room++
		}
		c.shards[i].init(room)
	}
	return c
}

func orDefault(d, byDefault time.Duration) time.Duration {
	if d == 0 {
		return byDefault
	}
	return d
}

// Review returns the remembered answer, or waits for one.
//
// It returns the context's error as soon as the context ends; the review goes on for others who wait for it, and is
// cancelled when nobody is left. Otherwise the error is the Reviewer's, one that wraps [context.DeadlineExceeded] for
// the timeout, [ErrContradiction], [ErrOverdue], [ErrNoReviewer], or a [*PanicError].
func (c *Cache) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	if c.reviewer == nil {
		return authorizationv1.SubjectAccessReviewStatus{}, ErrNoReviewer
	}
	k := keyOf(&spec)
	s := &c.shards[k[0]%shards]
	now := c.now()
	if status, found := s.recall(k, now); found {
		return status, nil
	}
	if err := ctx.Err(); err != nil {
		return authorizationv1.SubjectAccessReviewStatus{}, err
	}
	status, call := c.join(ctx, s, k, spec, now)
	if call == nil {
		return status, nil
	}
	return wait(ctx, call)
}

// ttl is how long an answer is remembered; not above 0 is not at all.
func (c *Cache) ttl(status authorizationv1.SubjectAccessReviewStatus) time.Duration {
	if status.Allowed {
		return c.allowTTL
	}
	return c.denyTTL
}
