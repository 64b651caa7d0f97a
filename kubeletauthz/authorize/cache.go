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

// MaxReasonBytes is how much of an answer's reason and of its evaluation error is remembered.
const MaxReasonBytes = 1 << 10 // 1 KiB

// shards is how many locks the cache has. Which one a question takes is decided by its hash.
const shards = 64

// CacheOptions configure a Cache. The zero value is the kubelet's configuration.
type CacheOptions struct {
	// AllowTTL is how long an allow is remembered, counted from the asking. Zero is DefaultAllowTTL, negative is not at all.
	AllowTTL time.Duration
	// DenyTTL is the same for a denial or no opinion. Zero is DefaultDenyTTL.
	DenyTTL time.Duration
	// Entries is how many answers are remembered at most; the least recently used go first. Below 1 is DefaultEntries.
	Entries int
	// Timeout bounds one review, whoever waits for it. Below 1 is DefaultTimeout.
	Timeout time.Duration
	// Now is the clock that answers age by; nil is time.Now.
	Now func() time.Time
}

// Cache is a Reviewer that remembers another's answers. Make it with [NewCache]; it is safe for concurrent use and has no
// lock that all questions take.
//
// The whole question is the key: user, UID, groups in their order, extra and every attribute. Equal questions at the same
// time are asked once. Errors are never remembered, nor is an answer that contradicts itself.
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
// cancelled when nobody is left. Otherwise the error is the Reviewer's, the timeout's, or [ErrContradiction].
func (c *Cache) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	k := keyOf(&spec)
	s := &c.shards[k[0]%shards]
	now := c.now()
	s.mu.Lock()
	if status, found := s.get(k, now); found {
		s.mu.Unlock()
		return status, nil
	}
	if err := ctx.Err(); err != nil {
		s.mu.Unlock()
		return authorizationv1.SubjectAccessReviewStatus{}, err
	}
	f := s.flights[k]
	if f == nil {
		f = c.start(ctx, s, k, spec, now)
	}
	f.waiting++
	s.mu.Unlock()
	return s.wait(ctx, k, f)
}

// Len is how many answers are remembered now, expired ones that nobody asked about since included.
func (c *Cache) Len() int {
	n := 0
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += len(s.entries)
		s.mu.Unlock()
	}
	return n
}

// ttl is how long an answer is remembered; not above 0 is not at all.
func (c *Cache) ttl(status authorizationv1.SubjectAccessReviewStatus) time.Duration {
	if status.Allowed {
		return c.allowTTL
	}
	return c.denyTTL
}
