package provider_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
)

// gated is a runner that waits for the test.
type gated struct {
	entered chan credprovider.Request
	release chan error
	ended   chan error // the context's end, when it comes first
	answer  credprovider.Response
}

func newGated() *gated {
	return &gated{
		entered: make(chan credprovider.Request, 2000), release: make(chan error), ended: make(chan error, 2000),
		answer: credprovider.Response{CacheKeyType: credprovider.KeyImage, Auth: map[string]credprovider.AuthConfig{"a.io": {Username: "u"}}},
	}
}

func (g *gated) Run(ctx context.Context, r credprovider.Request) (credprovider.Response, error) {
	g.entered <- r
	select {
	case err := <-g.release:
		return g.answer, err
	case <-ctx.Done():
		g.ended <- ctx.Err()
		return credprovider.Response{}, ctx.Err()
	}
}

// pool returns a pool of one provider that a gated runner answers for.
func gatedPool(t *testing.T, g *gated, change func(*credprovider.Provider)) (*world, *provider.Pool) {
	t.Helper()
	w := newWorld(t)
	p := w.provide("gated", "a.io", "")
	if change != nil {
		change(p)
	}
	pool, err := provider.New(w.config, []provider.Runner{g}, w.options())
	if err != nil {
		t.Fatal(err)
	}
	return w, pool
}

type result struct {
	found []credprovider.Credential
	err   error
}

func lookup(ctx context.Context, pool *provider.Pool, image string, p provider.Pod) chan result {
	done := make(chan result, 1)
	go func() {
		found, err := pool.Lookup(ctx, image, p)
		done <- result{found, err}
	}()
	return done
}

func TestSingleFlight(t *testing.T) {
	ctx := context.Background()
	t.Run("CRP-14 equal requests run once and share the answer", func(t *testing.T) {
		g := newGated()
		g.answer.CacheDuration = credprovider.NewDuration(0)
		_, pool := gatedPool(t, g, nil)
		waiting := []chan result{lookup(ctx, pool, "a.io/x", pod("p", ""))}
		<-g.entered
		for range 20 {
			waiting = append(waiting, lookup(ctx, pool, "a.io/x", pod("p", "")))
		}
		provider.AwaitWaiters(21)
		g.release <- nil
		for _, w := range waiting {
			if r := <-w; r.err != nil || len(r.found) != 1 {
				t.Errorf("Lookup = %+v", r)
			}
		}
		if len(g.entered) != 0 {
			t.Errorf("%d more runs, want none", len(g.entered))
		}
	})
	t.Run("CRP-14 different images do not wait for each other", func(t *testing.T) {
		g := newGated()
		_, pool := gatedPool(t, g, nil)
		first, second := lookup(ctx, pool, "a.io/x", pod("p", "")), lookup(ctx, pool, "a.io/y", pod("p", ""))
		<-g.entered
		<-g.entered // both run before any has ended
		g.release <- nil
		g.release <- nil
		<-first
		<-second
	})
	t.Run("CRP-14 CRP-11 different tokens do not wait for each other", func(t *testing.T) {
		g := newGated()
		w, pool := gatedPool(t, g, func(p *credprovider.Provider) { withToken(p, credprovider.CacheByToken, true) })
		w.account("ns", "sa", nil)
		first, second := lookup(ctx, pool, "a.io/x", pod("p1", "sa")), lookup(ctx, pool, "a.io/x", pod("p2", "sa"))
		a, b := <-g.entered, <-g.entered
		if a.ServiceAccountToken.Equal(b.ServiceAccountToken) {
			t.Error("both runs have one token")
		}
		g.release <- nil
		g.release <- nil
		<-first
		<-second
	})
	t.Run("CRP-14 CRP-12 pods of one account share a run whose answer is kept", func(t *testing.T) {
		g := newGated()
		w, pool := gatedPool(t, g, func(p *credprovider.Provider) { withToken(p, credprovider.CacheByServiceAccount, true) })
		w.account("ns", "sa", nil)
		first := lookup(ctx, pool, "a.io/x", pod("p1", "sa"))
		<-g.entered
		second := lookup(ctx, pool, "a.io/x", pod("p2", "sa"))
		provider.AwaitWaiters(2)
		g.release <- nil
		if a, b := <-first, <-second; len(a.found) != 1 || len(b.found) != 1 || len(g.entered) != 0 {
			t.Errorf("%+v, %+v, %d more runs", a, b, len(g.entered))
		}
	})
	for name, fail := range map[string]bool{"an answer for one pull": false, "a failure": true} {
		t.Run("CRP-14 CRP-13 pods of one account do not share "+name, func(t *testing.T) {
			g := newGated()
			g.answer.CacheDuration = credprovider.NewDuration(0)
			w, pool := gatedPool(t, g, func(p *credprovider.Provider) { withToken(p, credprovider.CacheByServiceAccount, true) })
			w.account("ns", "sa", nil)
			first := lookup(ctx, pool, "a.io/x", pod("p1", "sa"))
			leader := <-g.entered
			second := lookup(ctx, pool, "a.io/x", pod("p2", "sa"))
			provider.AwaitWaiters(2)
			var fault error
			if fail {
				fault = errors.New("the first pod's token is bad")
			}
			g.release <- fault
			if r := <-first; !errors.Is(r.err, fault) {
				t.Errorf("first = %+v", r)
			}
			own := <-g.entered
			g.release <- nil
			if r := <-second; r.err != nil || len(r.found) != 1 || own.ServiceAccountToken.Equal(leader.ServiceAccountToken) {
				t.Errorf("second = %+v", r)
			}
		})
	}
	t.Run("CRP-14 a failure is shared by equal requests and kept by nobody", func(t *testing.T) {
		g := newGated()
		_, pool := gatedPool(t, g, nil)
		first := lookup(ctx, pool, "a.io/x", pod("p", ""))
		<-g.entered
		second := lookup(ctx, pool, "a.io/x", pod("p", ""))
		provider.AwaitWaiters(2)
		fault := errors.New("broken")
		g.release <- fault
		if a, b := <-first, <-second; !errors.Is(a.err, fault) || !errors.Is(b.err, fault) || len(g.entered) != 0 {
			t.Errorf("%v, %v", a.err, b.err)
		}
		third := lookup(ctx, pool, "a.io/x", pod("p", ""))
		<-g.entered
		g.release <- nil
		if r := <-third; r.err != nil {
			t.Errorf("CRP-17: the next pull = %v", r.err)
		}
	})
	t.Run("CRP-14 one waiter leaves at once and the run goes on", func(t *testing.T) {
		g := newGated()
		_, pool := gatedPool(t, g, nil)
		leaving, cancel := context.WithCancel(ctx)
		first := lookup(leaving, pool, "a.io/x", pod("p", ""))
		<-g.entered
		second := lookup(ctx, pool, "a.io/x", pod("p", ""))
		provider.AwaitWaiters(2)
		cancel()
		if r := <-first; !errors.Is(r.err, context.Canceled) {
			t.Errorf("first = %+v", r)
		}
		g.release <- nil
		if r := <-second; r.err != nil || len(r.found) != 1 {
			t.Errorf("second = %+v", r)
		}
	})
	t.Run("CRP-14 the run ends when the last waiter is gone, and nobody joins it", func(t *testing.T) {
		g := newGated()
		_, pool := gatedPool(t, g, nil)
		leaving, cancel := context.WithCancel(ctx)
		first := lookup(leaving, pool, "a.io/x", pod("p", ""))
		<-g.entered
		cancel()
		<-first
		if err := <-g.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the run ended with %v", err)
		}
		second := lookup(ctx, pool, "a.io/x", pod("p", ""))
		<-g.entered
		g.release <- nil
		if r := <-second; r.err != nil {
			t.Errorf("second = %+v", r)
		}
	})
	t.Run("CRP-5 no more than MaxRuns processes of one provider at a time", func(t *testing.T) {
		w := newWorld(t)
		w.provide("gated", "a.io", "")
		g, options := newGated(), w.options()
		options.MaxRuns = 1
		pool, err := provider.New(w.config, []provider.Runner{g}, options)
		if err != nil {
			t.Fatal(err)
		}
		first := lookup(ctx, pool, "a.io/x", pod("p", ""))
		<-g.entered
		leaving, cancel := context.WithCancel(ctx)
		second := lookup(leaving, pool, "a.io/y", pod("p", ""))
		provider.AwaitWaiters(2)
		cancel()
		if r := <-second; !errors.Is(r.err, context.Canceled) || len(g.entered) != 0 {
			t.Errorf("second = %+v, %d more runs", r, len(g.entered))
		}
		g.release <- nil
		<-first
		third := lookup(ctx, pool, "a.io/y", pod("p", ""))
		<-g.entered
		g.release <- nil
		if r := <-third; r.err != nil {
			t.Errorf("third = %+v", r)
		}
	})
	t.Run("CRP-17 two providers run side by side", func(t *testing.T) {
		w := newWorld(t)
		w.provide("one", "a.io", "")
		w.provide("two", "a.io", "")
		one, two := newGated(), newGated()
		pool, err := provider.New(w.config, []provider.Runner{one, two}, w.options())
		if err != nil {
			t.Fatal(err)
		}
		done := lookup(ctx, pool, "a.io/x", pod("p", ""))
		<-one.entered
		<-two.entered // the second does not wait for the first
		two.release <- nil
		one.release <- nil
		if r := <-done; len(r.found) != 2 || r.found[0].Provider != "one" {
			t.Errorf("Lookup = %+v", r)
		}
	})
}

// slow is a token source that answers when its request is given up.
type slow struct{ entered, ended chan struct{} }

func (s slow) Token(ctx context.Context, _ provider.TokenRequest) (provider.Token, error) {
	close(s.entered)
	<-ctx.Done()
	close(s.ended)
	return provider.Token{}, ctx.Err()
}

func TestSlowTokens(t *testing.T) {
	for _, cacheType := range []credprovider.TokenCacheType{credprovider.CacheByToken, credprovider.CacheByServiceAccount} {
		t.Run("CRP-29 a slow API server holds a pull no longer than its context, with cacheType "+string(cacheType), func(t *testing.T) {
			w := newWorld(t)
			w.account("ns", "sa", nil)
			withToken(w.provide("tok", "a.io", ""), cacheType, true)
			tokens, options := slow{make(chan struct{}), make(chan struct{})}, w.options()
			options.Tokens = tokens
			pool, err := provider.Open(w.configFile(), w.dir, options)
			if err != nil {
				t.Fatal(err)
			}
			leaving, cancel := context.WithCancel(context.Background())
			done := lookup(leaving, pool, "a.io/x", pod("p", "sa"))
			<-tokens.entered
			cancel()
			if r := <-done; !errors.Is(r.err, context.Canceled) || len(w.runs()) != 0 {
				t.Errorf("Lookup = %+v, runs %q", r, w.runs())
			}
			<-tokens.ended // the request itself was given up too
		})
	}
}

func TestScale(t *testing.T) {
	const pods, accounts, images = 1000, 50, 4
	t.Run(fmt.Sprintf("CRP-14 CRP-12 %d pods of %d accounts at once: runs equal distinct keys", pods, accounts), func(t *testing.T) {
		w := newWorld(t)
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		for i := range accounts {
			w.account("ns", fmt.Sprintf("sa%d", i), nil)
		}
		pool := w.open()
		keys := map[string]bool{}
		start := make(chan struct{})
		var wait sync.WaitGroup
		faults := make(chan error, pods)
		for i := range pods {
			account, image := fmt.Sprintf("sa%d", i%accounts), fmt.Sprintf("reg.io/app%d", (i/accounts)%images)
			keys[account+" "+image] = true
			wait.Go(func() {
				<-start
				found, err := pool.Lookup(context.Background(), image, pod(fmt.Sprintf("p%d", i), account))
				if err != nil || len(found) != 1 || found[0].Account.Name != account || found[0].Username != image {
					faults <- fmt.Errorf("pod %d: %+v, %w", i, found, err)
				}
			})
		}
		begun := time.Now()
		close(start)
		wait.Wait()
		close(faults)
		for err := range faults {
			t.Error(err)
		}
		if got := len(w.runs()); got != len(keys) {
			t.Errorf("%d plugin runs, want %d", got, len(keys))
		}
		twice := map[provider.TokenRequest]int{}
		for _, r := range w.minted() {
			if twice[r]++; twice[r] > 1 {
				t.Errorf("CRP-15: token minted twice for %+v", r)
			}
		}
		t.Logf("%d pods, %d accounts, %d images: %d plugin runs for %d distinct keys, %d tokens, %v", pods, accounts, images, len(w.runs()), len(keys), len(w.minted()), time.Since(begun).Round(time.Millisecond))
	})
}
