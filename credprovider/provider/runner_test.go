package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/internal/testprint"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/redact"
)

// runner is a Runner that is no process.
type runner func(r credprovider.Request) (credprovider.Response, error)

func (f runner) Run(_ context.Context, r credprovider.Request) (credprovider.Response, error) {
	return f(r)
}

// answering returns a runner whose answers are right but for what change does.
func answering(change func(token string, r *credprovider.Response)) runner {
	return func(r credprovider.Request) (credprovider.Response, error) {
		response := credprovider.Response{
			APIVersion: r.APIVersion, CacheKeyType: credprovider.KeyGlobal,
			Auth: map[string]credprovider.AuthConfig{"a.io": {Username: "u", Password: redact.New("pw")}},
		}
		change(r.ServiceAccountToken.Reveal(), &response)
		return response, nil
	}
}

func auth(pattern, username, password string) map[string]credprovider.AuthConfig {
	return map[string]credprovider.AuthConfig{pattern: {Username: username, Password: redact.New(password)}}
}

// inProcess returns a pool of one provider that acts for the workload, whose plugin is r.
func (w *world) inProcess(r provider.Runner, cacheType credprovider.TokenCacheType) *provider.Pool {
	w.t.Helper()
	w.account("ns", "sa", nil)
	withToken(w.provide("tok", "*.io", ""), cacheType, true)
	pool, err := provider.New(w.config, []provider.Runner{r}, w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	return pool
}

func TestAnyRunnerIsChecked(t *testing.T) {
	large := strings.Repeat("x", plugin.DefaultMaxOutput)
	for _, c := range []struct {
		name   string
		change func(token string, r *credprovider.Response)
		want   error
	}{
		{"CRP-33 a token as the password", func(token string, r *credprovider.Response) { r.Auth = auth("a.io", "u", token) }, plugin.ErrEcho},
		{"CRP-33 a token in the password", func(token string, r *credprovider.Response) { r.Auth = auth("a.io", "u", "Bearer "+token) }, plugin.ErrEcho},
		{"CRP-33 a token as the user name", func(token string, r *credprovider.Response) { r.Auth = auth("a.io", token, "pw") }, plugin.ErrEcho},
		{"CRP-33 a token in a pattern", func(token string, r *credprovider.Response) { r.Auth = auth("a.io/"+token, "u", "pw") }, plugin.ErrEcho},
		{"CRP-33 an answer in another version", func(_ string, r *credprovider.Response) { r.APIVersion = credprovider.V1beta1 }, plugin.ErrVersion},
		{"CRP-33 an unknown cacheKeyType", func(token string, r *credprovider.Response) { r.CacheKeyType = credprovider.CacheKeyType(token) }, plugin.ErrCacheKeyType},
		{"CRP-33 an answer over the bound", func(_ string, r *credprovider.Response) { r.Auth = auth("a.io", "u", large) }, plugin.ErrOutputTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			pool := w.inProcess(answering(c.change), credprovider.CacheByServiceAccount)
			for _, name := range []string{"a", "b"} { // a failure is not kept, so that pod b is refused too
				found, err := pool.Lookup(context.Background(), "a.io/x", pod(name, "sa"))
				var failed *plugin.Error
				if !errors.As(err, &failed) || failed.Kind != c.want || failed.Provider != "tok" || failed.Image != "a.io/x" || found != nil {
					t.Errorf("pod %s: Lookup = %d credentials, %v, want %v", name, len(found), err, c.want)
				}
				if shown := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(shown, "secret-token") || len(shown) > 4<<10 {
					t.Errorf("the error shows %.200q", shown)
				}
			}
		})
	}
	t.Run("CRP-33 pod b never gets pod a's token", func(t *testing.T) {
		w := newWorld(t)
		pool := w.inProcess(answering(func(token string, r *credprovider.Response) { r.Auth = auth("a.io", "u", token) }), credprovider.CacheByServiceAccount)
		a, errA := pool.Lookup(context.Background(), "a.io/x", pod("a", "sa"))
		b, errB := pool.Lookup(context.Background(), "a.io/x", pod("b", "sa"))
		if a != nil || b != nil || !errors.Is(errA, plugin.ErrEcho) || !errors.Is(errB, plugin.ErrEcho) {
			t.Errorf("pod a: %d credentials, %v; pod b: %d credentials, %v", len(a), errA, len(b), errB)
		}
	})
	t.Run("CRP-33 with cacheType Token each pod gets its own token back", func(t *testing.T) {
		w := newWorld(t)
		pool := w.inProcess(answering(func(token string, r *credprovider.Response) { r.Auth = auth("a.io", "u", token) }), credprovider.CacheByToken)
		a, b := w.must(pool, "a.io/x", pod("a", "sa")), w.must(pool, "a.io/x", pod("b", "sa"))
		if len(a) != 1 || len(b) != 1 || a[0].Password.Equal(b[0].Password) || !strings.Contains(b[0].Password.Reveal(), "uid-b") {
			t.Errorf("%d and %d credentials, the same password: %v", len(a), len(b), a[0].Password.Equal(b[0].Password))
		}
	})
	t.Run("CRP-33 a runner that is no process may leave the version of its answer empty", func(t *testing.T) {
		w := newWorld(t)
		pool := w.inProcess(answering(func(_ string, r *credprovider.Response) { r.APIVersion = "" }), credprovider.CacheByServiceAccount)
		if found := w.must(pool, "a.io/x", pod("a", "sa")); len(found) != 1 {
			t.Errorf("Lookup = %d credentials, want 1", len(found))
		}
	})
	t.Run("CRP-33 the bound is the pool's option", func(t *testing.T) {
		w := newWorld(t)
		w.provide("plain", "*.io", "")
		options := w.options()
		options.Plugin.MaxOutput = 3
		pool, err := provider.New(w.config, []provider.Runner{answering(func(string, *credprovider.Response) {})}, options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Lookup(context.Background(), "a.io/x", pod("a", "")); !errors.Is(err, plugin.ErrOutputTooLarge) {
			t.Errorf("Lookup = %v, want ErrOutputTooLarge", err)
		}
	})
	t.Run("CRP-16 an answer that is refused is timed and is no plugin error", func(t *testing.T) {
		w := newWorld(t)
		pool := w.inProcess(answering(func(_ string, r *credprovider.Response) { r.APIVersion = "v9" }), credprovider.CacheByServiceAccount)
		_, err := pool.Lookup(context.Background(), "a.io/x", pod("a", "sa"))
		if err == nil || w.errors["tok"] != 0 || w.durations["tok"] != 1 {
			t.Errorf("Lookup = %v, errors %v, durations %v", err, w.errors, w.durations)
		}
	})
}

var errExchange = errors.New("exchange refused")

func TestAnyRunnersErrorIsScrubbed(t *testing.T) {
	t.Run("MOD-9 CRP-22 a runner's error that quotes the token is shown without it, and keeps its type", func(t *testing.T) {
		w := newWorld(t)
		pool := w.inProcess(runner(func(r credprovider.Request) (credprovider.Response, error) {
			return credprovider.Response{}, fmt.Errorf("token %s: %w", r.ServiceAccountToken.Reveal(), errExchange)
		}), credprovider.CacheByServiceAccount)
		_, err := pool.Lookup(context.Background(), "a.io/x", pod("a", "sa"))
		if !errors.Is(err, errExchange) {
			t.Errorf("Lookup = %v, want %v in it", err, errExchange)
		}
		for _, one := range append(err.(interface{ Unwrap() []error }).Unwrap(), err) {
			if !strings.Contains(one.Error(), "[redacted]") {
				t.Errorf("Error() = %s", one)
			}
			if text := testprint.Leaks(one, "secret-token"); text != "" {
				t.Errorf("the error shows %s", text)
			}
		}
	})
}

// source is a TokenSource and an AccountSource that say what they like.
type source struct {
	account credprovider.ServiceAccount
	token   provider.Token
}

func (s source) ServiceAccount(context.Context, string, string) (credprovider.ServiceAccount, error) {
	return s.account, nil
}

func (s source) Token(context.Context, provider.TokenRequest) (provider.Token, error) {
	return s.token, nil
}

func TestAnySourceIsChecked(t *testing.T) {
	good := source{
		account: credprovider.ServiceAccount{Namespace: "ns", Name: "sa", UID: "u"},
		token:   provider.Token{Value: redact.New("secret-token")},
	}
	lookup := func(t *testing.T, s source, cacheType credprovider.TokenCacheType) (runs int, err error) {
		w := newWorld(t)
		withToken(w.provide("tok", "*.io", ""), cacheType, true)
		options := w.options()
		options.Accounts, options.Tokens = s, s
		count := answering(func(string, *credprovider.Response) { runs++ })
		pool, err := provider.New(w.config, []provider.Runner{count}, options)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pool.Lookup(context.Background(), "a.io/x", pod("a", "sa"))
		return runs, err
	}
	t.Run("CRP-9 what is asked for is let pass", func(t *testing.T) {
		if runs, err := lookup(t, good, credprovider.CacheByServiceAccount); runs != 1 || err != nil {
			t.Errorf("Lookup = %d runs, %v", runs, err)
		}
	})
	for _, cacheType := range []credprovider.TokenCacheType{credprovider.CacheByServiceAccount, credprovider.CacheByToken} {
		t.Run("CRP-9 CRP-11 an empty token is no token, cacheType "+string(cacheType), func(t *testing.T) {
			s := good
			s.token = provider.Token{}
			runs, err := lookup(t, s, cacheType)
			var stage *provider.Error
			if runs != 0 || !errors.As(err, &stage) || stage.Stage != provider.StageToken || !errors.Is(err, provider.ErrEmptyToken) {
				t.Errorf("Lookup = %d runs, %v, want ErrEmptyToken", runs, err)
			}
		})
	}
	for name, account := range map[string]credprovider.ServiceAccount{
		"another name":      {Namespace: "ns", Name: "sb", UID: "u"},
		"another namespace": {Namespace: "other", Name: "sa", UID: "u"},
		"no UID":            {Namespace: "ns", Name: "sa"},
		"nothing":           {},
	} {
		t.Run("CRP-12 a service account with "+name+" is not the pod's", func(t *testing.T) {
			s := good
			s.account = account
			runs, err := lookup(t, s, credprovider.CacheByServiceAccount)
			var stage *provider.Error
			if runs != 0 || !errors.As(err, &stage) || stage.Stage != provider.StageAccount || !errors.Is(err, provider.ErrOtherAccount) || stage.Account.Name != "sa" {
				t.Errorf("Lookup = %d runs, %v, want ErrOtherAccount", runs, err)
			}
		})
	}
}
