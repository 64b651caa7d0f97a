package authorize_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
)

// errSecret is a panic's value that no error may hold.
const errSecret = "token abc123"

// maxOverdue is how many reviews may hang, as docs/kubeletauthz.md says.
const maxOverdue = 1024

var panicking = authorize.ReviewerFunc(func(context.Context, spec) (status, error) { panic(errSecret) })

// refused asks once and wants no answer, for the given cause.
func refused(t *testing.T, r authorize.Reviewer, cause error) {
	t.Helper()
	if got, err := r.Review(t.Context(), question("u")); !errors.Is(err, cause) || err == nil || got != (status{}) {
		t.Errorf("Review = %+v, %v, want no answer and %v", got, err, cause)
	}
}

func TestAPanicDenies(t *testing.T) {
	t.Run("KAZ-20 behind a cache it denies every caller with an error, and is not remembered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			let := make(chan struct{})
			asked := 0
			cache := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
				asked++
				if asked == 1 {
					<-let
					panic(errSecret)
				}
				return allow, nil
			}), authorize.CacheOptions{})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					got, err := cache.Review(t.Context(), question("u"))
					var fault *authorize.PanicError
					if !errors.As(err, &fault) || got != (status{}) || fault.Stack.IsEmpty() {
						t.Errorf("Review = %+v, %v, want a PanicError", got, err)
					}
				})
			}
			synctest.Wait()
			close(let)
			wg.Wait()
			if got, err := cache.Review(t.Context(), question("u")); err != nil || !got.Allowed || asked != 2 {
				t.Errorf("Review = %+v, %v after %d reviews, want asked again", got, err, asked)
			}
		})
	})
	t.Run("KAZ-20 without a cache it denies with the question", func(t *testing.T) {
		got, err := authorize.New(panicking, authorize.Options{}).Authorize(t.Context(), authorize.User{Name: "u"}, attributes(t, "/pods", 0))
		var fault *authorize.ReviewError
		var cause *authorize.PanicError
		if got != (authorize.Verdict{}) || !errors.As(err, &fault) || !errors.As(err, &cause) || fault.Attribute.Subresource != "pods" {
			t.Errorf("Authorize = %+v, %v, want a PanicError about nodes/pods", got, err)
		}
	})
	t.Run("KAZ-20 the error's text holds no value but a fault of the program", func(t *testing.T) {
		for want, value := range map[string]any{
			"panic with a value of type string":              errSecret,
			"panic with a value of type *errors.errorString": errors.New(errSecret),
			"nil pointer dereference":                        nil,
		} {
			_, err := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
				if value == nil {
					var none *spec
					return status{Reason: none.User}, nil
				}
				panic(value)
			}), authorize.CacheOptions{}).Review(t.Context(), question("u"))
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "abc123") {
				t.Errorf("error = %v, want …%s…", err, want)
			}
		}
	})
	t.Run("KAZ-20 a panic with an error can be told", func(t *testing.T) {
		cache := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) { panic(errAway) }), authorize.CacheOptions{})
		refused(t, cache, errAway)
	})
	t.Run("KAZ-20 a context that panics leaves the cache usable", func(t *testing.T) {
		cache := authorize.NewCache(always, authorize.CacheOptions{})
		authorizer := authorize.New(cache, authorize.Options{})
		for range 2 {
			got, err := authorizer.Authorize(brokenContext{t.Context()}, authorize.User{Name: "u"}, attributes(t, "/pods", 0))
			if err == nil || got.Allowed {
				t.Errorf("Authorize = %+v, %v, want a fault", got, err)
			}
		}
		if got, err := authorizer.Authorize(t.Context(), authorize.User{Name: "u"}, attributes(t, "/pods", 0)); err != nil || !got.Allowed {
			t.Errorf("Authorize = %+v, %v, want allowed", got, err)
		}
	})
}

type brokenContext struct{ context.Context }

func (brokenContext) Err() error { panic("broken context") }

func TestNoReviewerDenies(t *testing.T) {
	var none authorize.ReviewerFunc
	for name, r := range map[string]authorize.Reviewer{
		"a cache of nothing":       authorize.NewCache(nil, authorize.CacheOptions{}),
		"a cache of a nil func":    authorize.NewCache(none, authorize.CacheOptions{}),
		"a zero cache":             &authorize.Cache{},
		"a nil func":               none,
		"a cache of a zero cache":  authorize.NewCache(&authorize.Cache{}, authorize.CacheOptions{}),
		"a cache of another cache": authorize.NewCache(authorize.NewCache(nil, authorize.CacheOptions{}), authorize.CacheOptions{}),
	} {
		t.Run("KAZ-20 "+name, func(t *testing.T) { refused(t, r, authorize.ErrNoReviewer) })
	}
	for name, r := range map[string]authorize.Reviewer{"nothing": nil, "a nil func": none} {
		t.Run("KAZ-20 an authorizer over "+name, func(t *testing.T) {
			got, err := authorize.New(r, authorize.Options{}).Authorize(t.Context(), authorize.User{}, attributes(t, "/pods", 0))
			if !errors.Is(err, authorize.ErrNoReviewer) || got.Allowed {
				t.Errorf("Authorize = %+v, %v, want ErrNoReviewer", got, err)
			}
		})
	}
}

// deaf is a reviewer that ignores its context: it answers when it is let go.
type deaf struct {
	asked chan string
	let   chan status
}

func newDeaf() *deaf { return &deaf{make(chan string, 10_000), make(chan status)} }

func (d *deaf) Review(_ context.Context, q spec) (status, error) {
	d.asked <- q.User
	return <-d.let, nil
}

func TestALateAnswerNeverCounts(t *testing.T) {
	const timeout = 100 * time.Millisecond
	t.Run("KAZ-20 the timeout holds against a reviewer that ignores its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDeaf()
			cache := authorize.NewCache(d, authorize.CacheOptions{Timeout: timeout})
			start := time.Now()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					refused(t, cache, context.DeadlineExceeded)
					if took := time.Since(start); took != timeout {
						t.Errorf("refused after %v, want %v", took, timeout)
					}
				})
			}
			wg.Wait()
			d.let <- allow
			synctest.Wait()
			if cache.Len() != 0 || len(d.asked) != 1 {
				t.Errorf("%d remembered after %d reviews, want none after one", cache.Len(), len(d.asked))
			}
		})
	})
	t.Run("KAZ-20 nor does it replace a newer refusal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDeaf()
			cache := authorize.NewCache(d, authorize.CacheOptions{Timeout: timeout})
			refused(t, cache, context.DeadlineExceeded)
			answers := make(chan status, 1)
			go func() {
				got, _ := cache.Review(t.Context(), question("u"))
				answers <- got
			}()
			synctest.Wait() // two reviews are under way, the first of them late
			d.let <- none
			d.let <- none
			if got := <-answers; got.Allowed || got.Reason != none.Reason {
				t.Errorf("Review = %+v, want the refusal", got)
			}
			synctest.Wait()
			if got, err := cache.Review(t.Context(), question("u")); got.Allowed || err != nil || len(d.asked) != 2 {
				t.Errorf("Review = %+v, %v after %d reviews, want the remembered refusal", got, err, len(d.asked))
			}
		})
	})
	t.Run("KAZ-20 an answer at the very end of the time is late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cache := authorize.NewCache(authorize.ReviewerFunc(func(ctx context.Context, _ spec) (status, error) {
				<-ctx.Done()
				return allow, nil
			}), authorize.CacheOptions{Timeout: timeout})
			for range 100 {
				refused(t, cache, context.DeadlineExceeded)
			}
			synctest.Wait()
			if cache.Len() != 0 {
				t.Errorf("%d late answers are remembered", cache.Len())
			}
		})
	})
	t.Run("KAZ-20 a late panic takes nothing down", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			let := make(chan struct{})
			cache := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
				<-let
				panic(errSecret)
			}), authorize.CacheOptions{Timeout: timeout})
			refused(t, cache, context.DeadlineExceeded)
			close(let)
			synctest.Wait()
			if cache.Len() != 0 {
				t.Errorf("%d remembered, want none", cache.Len())
			}
		})
	})
	t.Run("KAZ-20 without a cache an allow after the caller's own deadline is a refusal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			late := authorize.ReviewerFunc(func(ctx context.Context, _ spec) (status, error) {
				<-ctx.Done()
				return allow, nil
			})
			got, err := authorize.New(late, authorize.Options{}).Authorize(ctx, authorize.User{}, attributes(t, "/pods", 0))
			if !errors.Is(err, context.DeadlineExceeded) || got.Allowed {
				t.Errorf("Authorize = %+v, %v, want the deadline", got, err)
			}
		})
	})
}

func TestHungReviewsAreBounded(t *testing.T) {
	t.Run("KAZ-20 no review starts beside 1,024 that are overdue, and remembered answers go on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDeaf()
			cache := authorize.NewCache(d, authorize.CacheOptions{})
			go func() { d.let <- allow }()
			if got, err := cache.Review(t.Context(), question("remembered")); err != nil || !got.Allowed {
				t.Fatalf("Review = %+v, %v, want allowed", got, err)
			}
			var wg sync.WaitGroup
			for i := range maxOverdue {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				wg.Go(func() { _, _ = cache.Review(ctx, question(fmt.Sprint(i))) })
				if i%2 == 0 { // half of them are left by their callers, the others meet the timeout
					synctest.Wait()
					leave()
				}
			}
			wg.Wait()
			if n := len(d.asked); n != maxOverdue+1 {
				t.Fatalf("%d reviews, want %d", n, maxOverdue+1)
			}
			refused(t, cache, authorize.ErrOverdue)
			refused(t, cache, authorize.ErrOverdue)
			if got, err := cache.Review(t.Context(), question("remembered")); err != nil || !got.Allowed {
				t.Errorf("Review = %+v, %v, want the remembered answer", got, err)
			}
			d.let <- none // one of the hung returns, which makes room for one
			synctest.Wait()
			wg.Go(func() { _, _ = cache.Review(t.Context(), question("u")) })
			synctest.Wait()
			if n := len(d.asked); n != maxOverdue+2 {
				t.Errorf("%d reviews, want %d", n, maxOverdue+2)
			}
			close(d.let)
			wg.Wait()
		})
	})
}

func TestARememberedAnswerDoesNotAllocate(t *testing.T) {
	t.Run("KAZ-20 a cache", func(t *testing.T) {
		cache, q := authorize.NewCache(always, authorize.CacheOptions{}), question("u")
		if n := testing.AllocsPerRun(100, func() { _, _ = cache.Review(t.Context(), q) }); n != 0 {
			t.Errorf("Review allocates %v times, want 0", n)
		}
	})
}
