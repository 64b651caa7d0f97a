package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
)

func tokenFor(podUID, audience string) provider.TokenRequest {
	return provider.TokenRequest{Account: credprovider.AccountRef{UID: "u", Namespace: "ns", Name: "sa"}, Audience: audience, PodUID: podUID}
}

func TestTokenCache(t *testing.T) {
	ctx := context.Background()
	get := func(t *testing.T, c *provider.TokenCache, r provider.TokenRequest) string {
		t.Helper()
		token, err := c.Token(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return token.Value.Reveal()
	}
	t.Run("CRP-15 kept by pod UID, account and audience", func(t *testing.T) {
		w := newWorld(t)
		c := provider.NewTokenCache(w, w.Now, 0)
		requests := []provider.TokenRequest{tokenFor("p1", "a"), tokenFor("p2", "a"), tokenFor("p1", "b")}
		for _, change := range []func(*credprovider.AccountRef){
			func(a *credprovider.AccountRef) { a.UID = "other" }, func(a *credprovider.AccountRef) { a.Name = "other" }, func(a *credprovider.AccountRef) { a.Namespace = "other" },
		} {
			r := tokenFor("p1", "a")
			change(&r.Account)
			requests = append(requests, r)
		}
		seen := map[string]bool{}
		for range 2 {
			for _, r := range requests {
				seen[get(t, c, r)] = true
			}
		}
		if len(seen) != len(requests) || len(w.minted()) != len(requests) || c.Len() != len(requests) {
			t.Errorf("%d tokens, %d minted, %d kept, want %d", len(seen), len(w.minted()), c.Len(), len(requests))
		}
	})
	t.Run("CRP-15 replaced after 24 hours however long it would live", func(t *testing.T) {
		w := newWorld(t)
		w.life = 1000 * time.Hour
		c := provider.NewTokenCache(w, w.Now, 0)
		first := get(t, c, tokenFor("p", "a"))
		w.pass(24*time.Hour - time.Second)
		if get(t, c, tokenFor("p", "a")) != first {
			t.Error("replaced before 24 hours")
		}
		w.pass(time.Second)
		if get(t, c, tokenFor("p", "a")) == first {
			t.Error("kept after 24 hours")
		}
	})
	t.Run("CRP-15 CRP-29 an old token serves while the API server is away, until it expires", func(t *testing.T) {
		w := newWorld(t)
		c := provider.NewTokenCache(w, w.Now, 0)
		first := get(t, c, tokenFor("p", "a"))
		w.tokenErr = errors.New("away")
		w.pass(50 * time.Minute)
		if get(t, c, tokenFor("p", "a")) != first || len(w.minted()) != 2 {
			t.Error("the old token is not used, or the source was not asked")
		}
		w.pass(11 * time.Minute)
		if _, err := c.Token(ctx, tokenFor("p", "a")); !errors.Is(err, w.tokenErr) {
			t.Errorf("Token after its end = %v", err)
		}
	})
	t.Run("CRP-15 bounded: what ends first goes first", func(t *testing.T) {
		w := newWorld(t)
		c := provider.NewTokenCache(w, w.Now, 2)
		get(t, c, tokenFor("p1", "a"))
		w.pass(time.Minute)
		get(t, c, tokenFor("p2", "a"))
		get(t, c, tokenFor("p3", "a"))
		get(t, c, tokenFor("p2", "a"))
		if c.Len() != 2 || len(w.minted()) != 3 {
			t.Errorf("%d kept, %d minted, want 2 and 3", c.Len(), len(w.minted()))
		}
	})
	t.Run("CRP-15 the tokens of a pod that is gone are dropped", func(t *testing.T) {
		w := newWorld(t)
		c := provider.NewTokenCache(w, w.Now, 0)
		for _, uid := range []string{"p1", "p2"} {
			get(t, c, tokenFor(uid, "a"))
			get(t, c, tokenFor(uid, "b"))
		}
		c.Forget("p1")
		if c.Len() != 2 {
			t.Errorf("%d kept, want 2", c.Len())
		}
	})
	t.Run("CRP-15 a token without an end is not kept", func(t *testing.T) {
		w := newWorld(t)
		w.life = 0
		c := provider.NewTokenCache(w, w.Now, 0)
		get(t, c, tokenFor("p", "a"))
		if c.Len() != 0 {
			t.Errorf("%d kept, want none", c.Len())
		}
	})
	t.Run("CRP-22 a cache prints without its tokens", func(t *testing.T) {
		w := newWorld(t)
		c := provider.NewTokenCache(w, w.Now, 0)
		token, err := c.Token(ctx, tokenFor("p", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%v %+v %#v %v %#v", c, c, c, token, token); strings.Contains(text, "secret-token") {
			t.Errorf("it prints %s", text)
		}
	})
}

func TestAnswersAreBounded(t *testing.T) {
	t.Run("CRP-10 answers of one provider are bounded", func(t *testing.T) {
		w := newWorld(t)
		w.provide("plain", "*.io", "")
		options := w.options()
		options.MaxAnswers = 2
		pool, err := provider.Open(w.configFile(), w.dir, options)
		if err != nil {
			t.Fatal(err)
		}
		for _, image := range []string{"a.io/1", "a.io/2", "a.io/3", "a.io/3"} {
			w.pass(time.Second)
			w.must(pool, image, pod("p", ""))
		}
		w.must(pool, "a.io/1", pod("p", ""))
		if got := len(w.runs()); got != 4 {
			t.Errorf("%d runs, want 4: the oldest answer is gone, the last is kept", got)
		}
	})
	t.Run("CRP-15 a pool forgets a pod", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByToken, true)
		pool := w.open()
		w.must(pool, "a.io/x", pod("p", "sa"))
		pool.Forget("uid-p")
		w.must(pool, "a.io/x", pod("p", "sa"))
		if len(w.minted()) != 2 {
			t.Errorf("%d tokens, want 2", len(w.minted()))
		}
	})
}
