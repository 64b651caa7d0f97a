package provider_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestAsToday(t *testing.T) {
	for _, c := range []struct {
		keyType string
		runs    int
	}{{"Image", 4}, {"Registry", 2}, {"Global", 1}} {
		t.Run("CRP-10 kept by "+c.keyType, func(t *testing.T) {
			w := newWorld(t)
			w.provide("plain", "*.io", "", "KEY_TYPE", c.keyType)
			pool := w.open()
			for range 2 {
				for _, image := range []string{"a.io/x", "a.io/y", "b.io/x", "b.io/y"} {
					w.must(pool, image, pod("p1", "sa"))
				}
			}
			if got := len(w.runs()); got != c.runs {
				t.Errorf("%d runs, want %d: %q", got, c.runs, w.runs())
			}
			if len(w.minted()) != 0 {
				t.Error("a provider without tokenAttributes asked for a token")
			}
		})
	}
	t.Run("CRP-6 CRP-10 no token and no annotations are sent", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", map[string]string{"a": "1"})
		w.provide("plain", "*.io", "")
		w.must(w.open(), "a.io/x", pod("p1", "sa"))
		if got := w.runs(); len(got) != 1 || !strings.HasSuffix(got[0], "a.io/x 0 map[]") {
			t.Errorf("the plugin saw %q", got)
		}
	})
	t.Run("CRP-4 an image that no pattern matches runs nothing", func(t *testing.T) {
		w := newWorld(t)
		w.provide("plain", "*.io", "")
		if found := w.must(w.open(), "a.b.io/x", pod("p1", "")); found != nil || w.runs() != nil {
			t.Errorf("Lookup = %v, runs %q", found, w.runs())
		}
	})
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		fallback     time.Duration
		after        time.Duration
		runs         int
	}{
		{"CRP-13 zero is for one pull", "0s", time.Hour, 0, 2},
		{"CRP-13 negative is for one pull", "-1m", time.Hour, 0, 2},
		{"CRP-13 absent takes the default", "", time.Hour, 59 * time.Minute, 1},
		{"CRP-13 absent takes the default, which ends", "", time.Hour, time.Hour + 1, 2},
		{"CRP-13 absent with default zero", "", 0, 0, 2},
		{"CRP-13 the answer's own", "5m", time.Hour, 5*time.Minute + 1, 2},
		{"CRP-13 good until its last moment", "5m", 0, 5 * time.Minute, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.provide("plain", "*.io", "", "DURATION", c.answer).DefaultCacheDuration = credprovider.NewDuration(c.fallback)
			pool := w.open()
			w.must(pool, "a.io/x", pod("p1", ""))
			w.pass(c.after)
			w.must(pool, "a.io/x", pod("p1", ""))
			if got := len(w.runs()); got != c.runs {
				t.Errorf("%d runs, want %d", got, c.runs)
			}
		})
	}
}

func TestAsTheWorkload(t *testing.T) {
	t.Run("CRP-6 CRP-9 token and configured annotations, bound to the pod", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", map[string]string{"req": "1", "opt": "2", "other": "3"})
		attributes := withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		attributes.RequiredServiceAccountAnnotationKeys = []string{"req"}
		attributes.OptionalServiceAccountAnnotationKeys = []string{"opt", "absent"}
		found := w.must(w.open(), "a.io/x", pod("p1", "sa"))
		want := provider.TokenRequest{Account: credprovider.AccountRef{UID: "uid-sa", Namespace: "ns", Name: "sa"}, Audience: "aud-tok", PodName: "p1", PodUID: "uid-p1"}
		if got := w.minted(); len(got) != 1 || got[0] != want {
			t.Errorf("token requests = %+v, want %+v", got, want)
		}
		if got := w.runs(); len(got) != 1 || !strings.HasSuffix(got[0], "map[opt:2 req:1]") || strings.Contains(got[0], " 0 map") {
			t.Errorf("the plugin saw %q", got)
		}
		if len(found) != 1 || found[0].Account == nil || *found[0].Account != want.Account || found[0].Provider != "tok" {
			t.Errorf("CRP-20: Lookup = %+v, want the account in it", found)
		}
	})
	t.Run("CRP-12 pods of one account share an answer, and the second costs no token", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		pool := w.open()
		first, second := w.must(pool, "a.io/x", pod("p1", "sa")), w.must(pool, "a.io/x", pod("p2", "sa"))
		if len(w.runs()) != 1 || len(w.minted()) != 1 || !first[0].Password.Equal(second[0].Password) {
			t.Errorf("%d runs, %d tokens", len(w.runs()), len(w.minted()))
		}
	})
	t.Run("CRP-12 another annotation, another UID, another account run again", func(t *testing.T) {
		w := newWorld(t)
		attributes := withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		attributes.OptionalServiceAccountAnnotationKeys = []string{"a"}
		w.account("ns", "sa", map[string]string{"a": "1", "ignored": "1"})
		w.account("ns", "sb", map[string]string{"a": "1"})
		pool := w.open()
		w.must(pool, "a.io/x", pod("p1", "sa"))
		w.account("ns", "sa", map[string]string{"a": "1", "ignored": "2"})
		w.must(pool, "a.io/x", pod("p1", "sa"))
		if got := len(w.runs()); got != 1 {
			t.Errorf("%d runs after a change of an annotation that is not sent, want 1", got)
		}
		w.account("ns", "sa", map[string]string{"a": "2"})
		w.must(pool, "a.io/x", pod("p1", "sa"))
		w.must(pool, "a.io/x", pod("p2", "sb"))
		w.mu.Lock()
		again := w.accounts["ns/sa"]
		again.UID = "uid-made-again"
		w.accounts["ns/sa"] = again
		w.mu.Unlock()
		w.must(pool, "a.io/x", pod("p3", "sa"))
		if got := len(w.runs()); got != 4 {
			t.Errorf("%d runs, want 4: %q", got, w.runs())
		}
	})
	t.Run("CRP-11 with cacheType Token every pod runs for itself, and shares nothing", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("tok", "*.io", "", "KEY_TYPE", "Global"), credprovider.CacheByToken, true)
		pool := w.open()
		first, second := w.must(pool, "a.io/x", pod("p1", "sa")), w.must(pool, "a.io/x", pod("p2", "sa"))
		w.must(pool, "a.io/y", pod("p1", "sa"))
		if len(w.runs()) != 2 || len(w.minted()) != 2 || first[0].Password.Equal(second[0].Password) {
			t.Errorf("%d runs, %d tokens", len(w.runs()), len(w.minted()))
		}
	})
	t.Run("CRP-11 CRP-15 a new token runs again", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("tok", "*.io", "", "DURATION", "10h"), credprovider.CacheByToken, true)
		pool := w.open()
		w.must(pool, "a.io/x", pod("p1", "sa"))
		w.pass(47 * time.Minute)
		w.must(pool, "a.io/x", pod("p1", "sa"))
		if len(w.minted()) != 1 {
			t.Errorf("%d tokens before 80%% of the first's life, want 1", len(w.minted()))
		}
		w.pass(2 * time.Minute)
		w.must(pool, "a.io/x", pod("p1", "sa"))
		if len(w.runs()) != 2 || len(w.minted()) != 2 {
			t.Errorf("%d runs, %d tokens, want 2 and 2", len(w.runs()), len(w.minted()))
		}
	})
	t.Run("CRP-8 a pod without service account", func(t *testing.T) {
		w := newWorld(t)
		withToken(w.provide("must", "*.io", ""), credprovider.CacheByServiceAccount, true)
		withToken(w.provide("may", "*.io", "", "KEY_TYPE", "Registry"), credprovider.CacheByServiceAccount, false)
		pool := w.open()
		found := w.must(pool, "a.io/x", pod("static", ""))
		w.must(pool, "a.io/y", pod("other", ""))
		if got := w.runs(); len(got) != 1 || !strings.HasSuffix(got[0], "may a.io/x 0 map[]") || len(w.minted()) != 0 {
			t.Errorf("runs %q, %d tokens", got, len(w.minted()))
		}
		if len(found) != 1 || found[0].Account != nil {
			t.Errorf("Lookup = %+v, want one credential of the node", found)
		}
	})
	t.Run("CRP-15 no provider is given another's audience, nor another pod's token", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("one", "*.io", ""), credprovider.CacheByToken, true)
		withToken(w.provide("two", "*.io", ""), credprovider.CacheByToken, true)
		pool := w.open()
		passwords := map[string]bool{}
		for _, name := range []string{"p1", "p2"} {
			for _, c := range w.must(pool, "a.io/x", pod(name, "sa")) {
				passwords[c.Password.Reveal()] = true
			}
		}
		audiences := map[string]int{}
		for _, r := range w.minted() {
			audiences[r.Audience+" "+r.PodUID]++
		}
		if len(passwords) != 4 || len(audiences) != 4 || len(w.minted()) != 4 {
			t.Errorf("%d passwords from %v", len(passwords), audiences)
		}
	})
	t.Run("CRP-18 one binary under two names, with and without token, side by side", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		w.provide("plain", "*.io", "")
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		found := w.must(w.open(), "a.io/x", pod("p1", "sa"))
		if len(found) != 2 || found[0].Provider != "plain" || found[1].Provider != "tok" || found[0].Password.Equal(found[1].Password) {
			t.Errorf("Lookup = %+v", found)
		}
	})
}

func TestFailuresAreIsolated(t *testing.T) {
	t.Run("CRP-7 a missing annotation: no run, a typed error, the others' credentials", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("strict", "*.io", ""), credprovider.CacheByServiceAccount, true).RequiredServiceAccountAnnotationKeys = []string{"team.io/id"}
		w.provide("plain", "*.io", "")
		found, err := w.open().Lookup(context.Background(), "a.io/x", pod("p1", "sa"))
		var missing *credprovider.MissingAnnotationsError
		var stage *provider.Error
		if !errors.As(err, &missing) || !slices.Equal(missing.Keys, []string{"team.io/id"}) || !errors.As(err, &stage) || stage.Stage != provider.StageAnnotations || stage.Provider != "strict" {
			t.Errorf("error = %v", err)
		}
		if len(found) != 1 || found[0].Provider != "plain" || len(w.runs()) != 1 || len(w.minted()) != 0 {
			t.Errorf("Lookup = %+v, runs %q", found, w.runs())
		}
	})
	t.Run("CRP-17 CRP-16 a failing plugin: others work, the next pull tries again, nothing is kept", func(t *testing.T) {
		w := newWorld(t)
		marker := filepath.Join(w.dir, "mended")
		w.provide("flaky", "*.io", `[ -e `+marker+` ] || { echo broken >&2; exit 3; }
echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Image","auth":{"a.io":{"username":"u","password":"p"}}}'`)
		w.provide("plain", "*.io", "")
		pool := w.open()
		for range 2 {
			found, err := pool.Lookup(context.Background(), "a.io/x", pod("p1", ""))
			if !errors.Is(err, plugin.ErrExit) || len(found) != 1 || found[0].Provider != "plain" {
				t.Errorf("Lookup = %+v, %v", found, err)
			}
		}
		if w.errors["flaky"] != 2 || w.durations["flaky"] != 2 || w.errors["plain"] != 0 || w.durations["plain"] != 1 {
			t.Errorf("metrics: errors %v, durations %v", w.errors, w.durations)
		}
		if err := os.WriteFile(marker, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if found := w.must(pool, "a.io/x", pod("p1", "")); len(found) != 2 || found[0].Provider != "flaky" {
			t.Errorf("Lookup = %+v", found)
		}
	})
	t.Run("CRP-16 a bad answer is timed and is no plugin error", func(t *testing.T) {
		w := newWorld(t)
		w.provide("liar", "*.io", "echo no JSON")
		_, err := w.open().Lookup(context.Background(), "a.io/x", pod("p1", ""))
		if !errors.Is(err, plugin.ErrInvalidResponse) || w.errors["liar"] != 0 || w.durations["liar"] != 1 {
			t.Errorf("Lookup = %v, errors %v, durations %v", err, w.errors, w.durations)
		}
	})
	t.Run("CRP-17 no credentials is an answer, and is kept", func(t *testing.T) {
		w := newWorld(t)
		w.provide("none", "*.io", `echo run >> `+w.runsFile()+`
echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Image"}'`)
		pool := w.open()
		for range 2 {
			if found := w.must(pool, "a.io/x", pod("p1", "")); found != nil {
				t.Errorf("Lookup = %+v", found)
			}
		}
		if len(w.runs()) != 1 {
			t.Errorf("%d runs, want 1", len(w.runs()))
		}
	})
	t.Run("CRP-29 the API server is away: audience and account named, others work, the next pull tries again", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		w.provide("plain", "*.io", "")
		pool := w.open()
		w.tokenErr = errors.New("connection refused")
		found, err := pool.Lookup(context.Background(), "a.io/x", pod("p1", "sa"))
		var stage *provider.Error
		if !errors.As(err, &stage) || stage.Stage != provider.StageToken || !errors.Is(err, w.tokenErr) || !strings.Contains(err.Error(), `"aud-tok"`) || !strings.Contains(err.Error(), `"ns/sa"`) {
			t.Errorf("error = %v", err)
		}
		if len(found) != 1 || found[0].Provider != "plain" {
			t.Errorf("Lookup = %+v", found)
		}
		w.tokenErr = nil
		if found := w.must(pool, "a.io/x", pod("p1", "sa")); len(found) != 2 {
			t.Errorf("Lookup = %+v", found)
		}
	})
	t.Run("CRP-29 a service account that cannot be fetched", func(t *testing.T) {
		w := newWorld(t)
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		_, err := w.open().Lookup(context.Background(), "a.io/x", pod("p1", "gone"))
		var stage *provider.Error
		if !errors.As(err, &stage) || stage.Stage != provider.StageAccount || !errors.Is(err, errNotFound) || stage.Account.Name != "gone" {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("CRP-12 a 100 KiB annotation is an error and hurts nobody else", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", map[string]string{"big": strings.Repeat("v", 100<<10)})
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true).OptionalServiceAccountAnnotationKeys = []string{"big"}
		w.provide("plain", "*.io", "")
		found, err := w.open().Lookup(context.Background(), "a.io/x", pod("p1", "sa"))
		if !errors.Is(err, credprovider.ErrKeyTooLong) || strings.Contains(err.Error(), "vvvv") || len(found) != 1 {
			t.Errorf("Lookup = %+v, %.300v", found, err)
		}
	})
}

func TestOpen(t *testing.T) {
	t.Run("CRP-16 the hash is reported once", func(t *testing.T) {
		w := newWorld(t)
		w.provide("plain", "*.io", "")
		w.open()
		if len(w.hashes) != 1 || !strings.HasPrefix(w.hashes[0], "sha256:") {
			t.Errorf("hashes = %q", w.hashes)
		}
	})
	t.Run("CRP-21 a change of the file takes effect at the restart and shows in the hash", func(t *testing.T) {
		w := newWorld(t)
		w.provide("plain", "a.io", "")
		path := w.configFile()
		before, err := provider.Open(path, w.dir, w.options())
		if err != nil {
			t.Fatal(err)
		}
		w.config.Providers[0].MatchImages = []string{"b.io"}
		data, _ := os.ReadFile(w.configFile())
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if len(w.must(before, "a.io/x", pod("p", ""))) != 1 {
			t.Error("the running pool has changed")
		}
		after, err := provider.Open(path, w.dir, w.options())
		if err != nil {
			t.Fatal(err)
		}
		if len(w.must(after, "b.io/x", pod("p", ""))) != 1 || w.must(after, "a.io/x", pod("p", "")) != nil || w.hashes[0] == w.hashes[1] {
			t.Errorf("after the restart: hashes %q", w.hashes)
		}
	})
	t.Run("CRP-21 off: provider removed, gate off, restart; and back with empty caches", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByServiceAccount, true)
		on := w.configFile()
		pool := w.open()
		w.must(pool, "a.io/x", pod("p", "sa"))
		off := w.options()
		off.Gates.KubeletServiceAccountTokenForCredentialProviders = false
		if _, err := provider.Open(on, w.dir, off); err == nil {
			t.Error("CRP-3: Open with the gate off and tokenAttributes = nil error")
		}
		w.config.Providers[0].TokenAttributes = nil
		without, err := provider.Open(w.configFile(), w.dir, off)
		if err != nil {
			t.Fatal(err)
		}
		if found := w.must(without, "a.io/x", pod("p", "sa")); len(found) != 1 || found[0].Account != nil || len(w.minted()) != 1 {
			t.Errorf("off: %+v, %d tokens", found, len(w.minted()))
		}
		again, err := provider.Open(on, w.dir, w.options())
		if err != nil {
			t.Fatal(err)
		}
		w.must(again, "a.io/x", pod("p", "sa"))
		if len(w.runs()) != 3 || len(w.minted()) != 2 {
			t.Errorf("%d runs, %d tokens, want 3 and 2", len(w.runs()), len(w.minted()))
		}
	})
	t.Run("CRP-28 a missing binary fails the start", func(t *testing.T) {
		w := newWorld(t)
		w.provide("plain", "*.io", "")
		w.config.Providers[0].Name = "absent"
		if _, err := provider.Open(w.configFile(), w.dir, w.options()); !errors.Is(err, plugin.ErrMissing) {
			t.Errorf("Open = %v, want ErrMissing", err)
		}
	})
	t.Run("sources are required with tokenAttributes", func(t *testing.T) {
		w := newWorld(t)
		withToken(w.provide("tok", "*.io", ""), credprovider.CacheByToken, true)
		options := w.options()
		options.Accounts = nil
		if _, err := provider.Open(w.configFile(), w.dir, options); !errors.Is(err, provider.ErrNoAccounts) {
			t.Errorf("Open = %v", err)
		}
		options = w.options()
		options.Tokens = nil
		if _, err := provider.Open(w.configFile(), w.dir, options); !errors.Is(err, provider.ErrNoTokens) {
			t.Errorf("Open = %v", err)
		}
	})
	t.Run("a runner for each provider", func(t *testing.T) {
		w := newWorld(t)
		w.provide("plain", "*.io", "")
		if _, err := provider.New(w.config, nil, w.options()); err == nil {
			t.Error("New without runners = nil error")
		}
	})
}

func TestNoSecretAnywhere(t *testing.T) {
	t.Run("CRP-22 token and password are in no error, metric or string form", func(t *testing.T) {
		w := newWorld(t)
		w.account("ns", "sa", nil)
		for name, script := range map[string]string{
			"refuses": `cat >&2; exit 1`, "repeats": `cat`, "echoes": "",
		} {
			p := w.provide(name, "*.io", script)
			if name == "echoes" {
				p.Env = append(p.Env, credprovider.EnvVar{Name: "ECHO", Value: redact.New("1")})
			}
			withToken(p, credprovider.CacheByServiceAccount, true)
		}
		withToken(w.provide("works", "*.io", ""), credprovider.CacheByServiceAccount, true)
		pool := w.open()
		found, err := pool.Lookup(context.Background(), "a.io/x", pod("p1", "sa"))
		if len(found) != 1 || err == nil || len(w.minted()) != 4 {
			t.Fatalf("Lookup = %d credentials, %v", len(found), err)
		}
		password := found[0].Password.Reveal()
		shown := fmt.Sprint(w.errors, w.durations, w.hashes)
		for _, value := range []any{found, found[0], err, pool, *pool} {
			shown += fmt.Sprintf("%v %+v %#v %s", value, value, value, value)
		}
		var failed *plugin.Error
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			shown += fmt.Sprintf("%v %+v %#v", one, one, one)
			if errors.As(one, &failed) {
				shown += string(failed.Stderr.Reveal())
			}
		}
		for _, secret := range []string{"secret-token", password} {
			if strings.Contains(shown, secret) {
				t.Errorf("%q is shown", secret)
			}
		}
	})
}
