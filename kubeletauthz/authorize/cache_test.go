package authorize_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// question is a review of one user's request for nodes/pods.
func question(user string) spec {
	return spec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Version: "v1", Resource: "nodes", Subresource: "pods", Name: "n"}}
}

// server answers as it is told at the moment and counts.
type server struct {
	mu    sync.Mutex
	count int
	now   status
	err   error
}

func (s *server) Review(context.Context, spec) (status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return s.now, s.err
}

func (s *server) set(now status, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.err = now, err
}

// want asks once and checks the answer and how often the server has been asked by then.
func want(t *testing.T, c *authorize.Cache, s *server, allowed bool, asked int) {
	t.Helper()
	got, err := c.Review(t.Context(), question("u"))
	if err != nil || got.Allowed != allowed || s.count != asked {
		t.Fatalf("Review = %+v, %v after %d reviews, want allowed %v after %d", got, err, s.count, allowed, asked)
	}
}

func TestCacheTimes(t *testing.T) {
	for _, c := range []struct {
		name     string
		answer   status
		options  authorize.CacheOptions
		lifetime time.Duration
	}{
		{"KAZ-6 allow by default", allow, authorize.CacheOptions{}, 5 * time.Minute},
		{"KAZ-6 no opinion by default", none, authorize.CacheOptions{}, 30 * time.Second},
		{"KAZ-6 deny by default", deny, authorize.CacheOptions{}, 30 * time.Second},
		{"KAZ-6 allow", allow, authorize.CacheOptions{AllowTTL: time.Second, DenyTTL: time.Hour}, time.Second},
		{"KAZ-6 deny", deny, authorize.CacheOptions{AllowTTL: time.Hour, DenyTTL: time.Second}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Unix(0, 0)
			c.options.Now = func() time.Time { return now }
			s := &server{now: c.answer}
			cache := authorize.NewCache(s, c.options)
			want(t, cache, s, c.answer.Allowed, 1)
			now = now.Add(c.lifetime - 1)
			want(t, cache, s, c.answer.Allowed, 1)
			now = now.Add(1)
			want(t, cache, s, c.answer.Allowed, 2)
		})
	}
	t.Run("KAZ-6 age counts from the asking", func(t *testing.T) {
		now := time.Unix(0, 0)
		asked := 0
		cache := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
			asked++
			now = now.Add(20 * time.Second) // a slow answer is an old one
			return none, nil
		}), authorize.CacheOptions{Now: func() time.Time { return now }})
		_, _ = cache.Review(t.Context(), question("u"))
		now = now.Add(10 * time.Second)
		_, _ = cache.Review(t.Context(), question("u"))
		if asked != 2 {
			t.Errorf("asked %d times, want again 30s after the first asking", asked)
		}
	})
	t.Run("KAZ-6 extra has no order", func(t *testing.T) {
		s := &server{now: allow}
		cache := authorize.NewCache(s, authorize.CacheOptions{})
		for range 100 {
			q := question("u")
			q.Extra = map[string]authorizationv1.ExtraValue{}
			for i := range 12 {
				q.Extra[fmt.Sprint(i)] = authorizationv1.ExtraValue{"v"}
			}
			_, _ = cache.Review(t.Context(), q)
		}
		if s.count != 1 {
			t.Errorf("asked %d times, want once", s.count)
		}
	})
	t.Run("KAZ-6 negative times remember nothing", func(t *testing.T) {
		s := &server{now: allow}
		cache := authorize.NewCache(s, authorize.CacheOptions{AllowTTL: -1, DenyTTL: -1})
		want(t, cache, s, true, 1)
		want(t, cache, s, true, 2)
		s.set(none, nil)
		want(t, cache, s, false, 3)
		want(t, cache, s, false, 4)
	})
}

func TestRevocationBetweenTwoRequests(t *testing.T) {
	now := time.Unix(0, 0)
	s := &server{now: allow}
	cache := authorize.NewCache(s, authorize.CacheOptions{Now: func() time.Time { return now }})
	t.Run("KAZ-6 a revoked permission ends with its time", func(t *testing.T) {
		want(t, cache, s, true, 1)
		s.set(none, nil)
		now = now.Add(authorize.DefaultAllowTTL - 1)
		want(t, cache, s, true, 1)
		now = now.Add(1)
		want(t, cache, s, false, 2)
	})
	t.Run("KAZ-6 a new permission counts when the denial's time is over", func(t *testing.T) {
		s.set(allow, nil)
		want(t, cache, s, false, 2)
		now = now.Add(authorize.DefaultDenyTTL)
		want(t, cache, s, true, 3)
	})
	t.Run("KAZ-4 an answer that expires while the server is away is no longer an answer", func(t *testing.T) {
		s.set(allow, errAway)
		want(t, cache, s, true, 3)
		now = now.Add(authorize.DefaultAllowTTL)
		if got, err := cache.Review(t.Context(), question("u")); got.Allowed || !errors.Is(err, errAway) {
			t.Errorf("Review = %+v, %v, want the fault", got, err)
		}
	})
}

func TestFaultsAreNeverRemembered(t *testing.T) {
	for name, s := range map[string]*server{
		"error": {err: errAway}, "allow with error": {now: allow, err: errAway}, "allow and deny at once": {now: both},
	} {
		t.Run("KAZ-4 KAZ-6 "+name, func(t *testing.T) {
			cache := authorize.NewCache(s, authorize.CacheOptions{})
			for asked := 1; asked <= 2; asked++ {
				got, err := cache.Review(t.Context(), question("u"))
				if err == nil || got.Allowed || s.count != asked || cache.Len() != 0 {
					t.Fatalf("Review = %+v, %v after %d, remembered %d, want a fault after %d", got, err, s.count, cache.Len(), asked)
				}
			}
			s.set(allow, nil)
			want(t, cache, s, true, 3)
		})
	}
	t.Run("KAZ-4 a reviewer that never returns an answer allows nothing", func(t *testing.T) {
		gone := authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
			runtime.Goexit()
			return allow, nil
		})
		cache := authorize.NewCache(gone, authorize.CacheOptions{})
		if got, err := cache.Review(t.Context(), question("u")); err == nil || got.Allowed {
			t.Errorf("Review = %+v, %v, want a fault", got, err)
		}
	})
}

// blocking answers when it is let go, and says when it was asked and why it ended.
type blocking struct {
	asked chan string
	let   chan status
	ended chan error
}

func newBlocking() *blocking {
	return &blocking{make(chan string, 100), make(chan status), make(chan error, 100)}
}

func (b *blocking) Review(ctx context.Context, q spec) (status, error) {
	b.asked <- q.User
	select {
	case s := <-b.let:
		b.ended <- nil
		return s, nil
	case <-ctx.Done():
		b.ended <- ctx.Err()
		return status{}, ctx.Err()
	}
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	t.Run("KAZ-6 64 callers, one review", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBlocking()
			cache := authorize.NewCache(b, authorize.CacheOptions{})
			var allowed atomic.Int32
			for range 64 {
				go func() {
					if got, err := cache.Review(t.Context(), question("u")); err == nil && got.Allowed {
						allowed.Add(1)
					}
				}()
			}
			synctest.Wait()
			if len(b.asked) != 1 {
				t.Errorf("asked %d times, want once", len(b.asked))
			}
			b.let <- allow
			synctest.Wait()
			if allowed.Load() != 64 {
				t.Errorf("%d allowed, want 64", allowed.Load())
			}
		})
	})
	t.Run("KAZ-6 others do not wait for it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBlocking()
			cache := authorize.NewCache(authorize.ReviewerFunc(func(ctx context.Context, q spec) (status, error) {
				if q.User == "slow" {
					return b.Review(ctx, q)
				}
				return allow, nil
			}), authorize.CacheOptions{})
			go func() { _, _ = cache.Review(t.Context(), question("slow")) }()
			synctest.Wait()
			for i := range 4 * 64 { // every shard several times
				if got, err := cache.Review(t.Context(), question(fmt.Sprint(i))); err != nil || !got.Allowed {
					t.Fatalf("Review = %+v, %v", got, err)
				}
			}
			b.let <- allow
		})
	})
}

func TestCallersMayLeave(t *testing.T) {
	t.Run("KAZ-6 one leaves, the others get the answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBlocking()
			cache := authorize.NewCache(b, authorize.CacheOptions{})
			ctx, leave := context.WithCancel(t.Context())
			left, stayed := make(chan error, 1), make(chan error, 1)
			go func() { _, err := cache.Review(ctx, question("u")); left <- err }()
			synctest.Wait()
			go func() { _, err := cache.Review(t.Context(), question("u")); stayed <- err }()
			synctest.Wait()
			leave()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v, want canceled", err)
			}
			b.let <- allow
			if err := <-stayed; err != nil || len(b.asked) != 1 {
				t.Errorf("who stayed got %v after %d reviews, want the first one's answer", err, len(b.asked))
			}
		})
	})
	t.Run("KAZ-6 the last to leave cancels the review", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBlocking()
			cache := authorize.NewCache(b, authorize.CacheOptions{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := cache.Review(ctx, question("u")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Review error = %v, want the deadline", err)
			}
			if err := <-b.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the review ended with %v, want canceled", err)
			}
			go func() { b.let <- allow }()
			if got, err := cache.Review(t.Context(), question("u")); err != nil || !got.Allowed {
				t.Errorf("the next Review = %+v, %v, want a new answer", got, err)
			}
		})
	})
	t.Run("KAZ-6 an answer that everyone left does not replace a later one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stale := make(chan status)
			var count atomic.Int32
			cache := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
				if count.Add(1) == 1 {
					return <-stale, nil
				}
				return none, nil
			}), authorize.CacheOptions{})
			ctx, leave := context.WithCancel(t.Context())
			go func() { _, _ = cache.Review(ctx, question("u")) }()
			synctest.Wait()
			leave()
			synctest.Wait()
			_, _ = cache.Review(t.Context(), question("u"))
			stale <- allow
			synctest.Wait()
			if got, _ := cache.Review(t.Context(), question("u")); got.Allowed || count.Load() != 2 {
				t.Errorf("Review = %+v after %d reviews, want the later refusal", got, count.Load())
			}
		})
	})
	t.Run("KAZ-5 KAZ-6 who left may reuse its slices", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			look, saw := make(chan struct{}), make(chan string, 1)
			cache := authorize.NewCache(authorize.ReviewerFunc(func(_ context.Context, q spec) (status, error) {
				<-look
				saw <- q.Groups[0]
				return none, nil
			}), authorize.CacheOptions{})
			ctx, leave := context.WithCancel(t.Context())
			q := question("u")
			q.Groups = []string{"readers"}
			go func() { _, _ = cache.Review(ctx, q) }()
			synctest.Wait()
			leave()
			synctest.Wait()
			q.Groups[0] = "admins"
			close(look)
			if group := <-saw; group != "readers" {
				t.Errorf("the review was asked for group %q, want readers", group)
			}
		})
	})
	t.Run("KAZ-6 a caller whose context has ended asks nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := &server{now: allow}
		if got, err := authorize.NewCache(s, authorize.CacheOptions{}).Review(ctx, question("u")); err == nil || got.Allowed || s.count != 0 {
			t.Errorf("Review = %+v, %v after %d reviews, want none", got, err, s.count)
		}
	})
	t.Run("KAZ-4 a slow server ends with the timeout for all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBlocking()
			cache := authorize.NewCache(b, authorize.CacheOptions{Timeout: 3 * time.Second})
			start := time.Now()
			got, err := cache.Review(t.Context(), question("u"))
			if !errors.Is(err, context.DeadlineExceeded) || got.Allowed || time.Since(start) != 3*time.Second {
				t.Errorf("Review = %+v, %v after %v, want the deadline after 3s", got, err, time.Since(start))
			}
		})
	})
}

func TestCacheBound(t *testing.T) {
	t.Run("KAZ-6 a million questions stay within the bound", func(t *testing.T) {
		const bound = 1000
		cache := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
			return status{Allowed: true, Reason: strings.Repeat("r", 10)}, nil
		}), authorize.CacheOptions{Entries: bound})
		questions := 1_000_000
		if testing.Short() {
			questions = 20_000
		}
		var wg sync.WaitGroup
		for g := range 64 {
			wg.Go(func() {
				q := question("")
				for i := g; i < questions; i += 64 {
					q.User = fmt.Sprint(i)
					if _, err := cache.Review(t.Context(), q); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if n := cache.Len(); n != bound {
			t.Errorf("Len = %d after %d questions, want %d", n, questions, bound)
		}
	})
	t.Run("KAZ-6 the least recently used goes first", func(t *testing.T) {
		s := &server{now: allow}
		cache := authorize.NewCache(s, authorize.CacheOptions{Entries: 2 * 64})
		want(t, cache, s, true, 1)
		for i := range 10_000 {
			_, _ = cache.Review(t.Context(), question(fmt.Sprint(i)))
			want(t, cache, s, true, i+2) // u's is still there, however many came in between
		}
	})
	t.Run("KAZ-6 a long reason is cut", func(t *testing.T) {
		s := &server{now: status{Allowed: true, Reason: strings.Repeat("é", 1<<10)}}
		cache := authorize.NewCache(s, authorize.CacheOptions{})
		want(t, cache, s, true, 1)
		got, _ := cache.Review(t.Context(), question("u"))
		if len(got.Reason) > 1<<10 || !strings.HasPrefix(s.now.Reason, got.Reason) {
			t.Errorf("remembered reason has %d bytes, want at most %d", len(got.Reason), 1<<10)
		}
	})
}
