package execcredential_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/pluginexec"
)

// TestImprovements names each documented difference, and shows both sides of it in one run.
func TestImprovements(t *testing.T) {
	server := newServer(t)
	both := func(t *testing.T, config execcredential.ExecConfig, options transport.Options) (ours, theirs *http.Client) {
		t.Helper()
		ours, err := lanyard(t, config, server.URL, options)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err = clientGo(config, server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return ours, theirs
	}
	config := func(p *plugin) execcredential.ExecConfig {
		return execcredential.ExecConfig{Command: p.path, APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever}
	}
	good := answer(execcredential.V1, execcredential.Kind, map[string]any{"token": "good"})
	many := func(client *http.Client, n int) {
		for range n {
			if response, err := client.Get(server.URL); err == nil {
				response.Body.Close()
			}
		}
	}

	t.Run("ECR-1 v1alpha1, which the KEP has and client-go has dropped", func(t *testing.T) {
		p := newPlugin(t, "", answer(execcredential.V1Alpha1, execcredential.Kind, map[string]any{"token": "good"}))
		old := config(p)
		old.APIVersion = execcredential.V1Alpha1
		ours, err := lanyard(t, old, server.URL, transport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome(ours, server.URL, p); !strings.HasPrefix(got, "200") {
			t.Errorf("outcome = %s, want 200", got)
		}
		if _, err := clientGo(old, server.URL); err == nil {
			t.Error("client-go takes v1alpha1")
		}
	})
	t.Run("ECR-10 ECR-11 a caller's deadline ends its wait for a hanging plugin", func(t *testing.T) {
		p := newPlugin(t, "sleep 1", good)
		ours, theirs := both(t, config(p), transport.Options{})
		wait := func(client *http.Client) time.Duration {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if response, err := client.Do(request); err == nil {
				response.Body.Close()
			}
			return time.Since(begin)
		}
		if got := wait(ours); got > 900*time.Millisecond {
			t.Errorf("waited %v, want the deadline of 100ms", got)
		}
		if got := wait(theirs); got < time.Second {
			t.Errorf("client-go waited %v, want the plugin's second", got)
		}
	})
	t.Run("ECR-13 a failing plugin is not run for every request", func(t *testing.T) {
		p := newPlugin(t, "exit 1", good)
		ours, theirs := both(t, config(p), transport.Options{})
		many(ours, 10)
		ourRuns := p.runs()
		many(theirs, 10)
		if theirRuns := p.runs(); ourRuns != 1 || theirRuns != 10 {
			t.Errorf("runs = %d, client-go's %d, want 1, 10", ourRuns, theirRuns)
		}
	})
	t.Run("ECR-13 an answer that has expired is not asked for anew by every request", func(t *testing.T) {
		p := newPlugin(t, "", answer(execcredential.V1, execcredential.Kind, map[string]any{"token": "good", "expirationTimestamp": "2020-01-01T00:00:00Z"}))
		ours, theirs := both(t, config(p), transport.Options{Backoff: transport.Backoff{Base: time.Minute}})
		many(ours, 10)
		ourRuns := p.runs()
		many(theirs, 10)
		if theirRuns := p.runs(); ourRuns != 1 || theirRuns < 10 {
			t.Errorf("runs = %d, client-go's %d, want 1, at least one per request", ourRuns, theirRuns)
		}
	})
	t.Run("ECR-9 sustained 401s do not run the plugin for every request", func(t *testing.T) {
		p := newPlugin(t, "", answer(execcredential.V1, execcredential.Kind, map[string]any{"token": "bad"}))
		ours, theirs := both(t, config(p), transport.Options{Backoff: transport.Backoff{Base: time.Minute}})
		many(ours, 30)
		ourRuns := p.runs()
		many(theirs, 30)
		if theirRuns := p.runs(); ourRuns > 10 || theirRuns < 30 {
			t.Errorf("runs = %d, client-go's %d, want a few, one per request", ourRuns, theirRuns)
		}
	})
	t.Run("ECR-9 the first 401 of a revoked token does not reach the caller", func(t *testing.T) {
		revoked := answer(execcredential.V1, execcredential.Kind, map[string]any{"token": "bad"})
		for name, want := range map[string]int{"lanyard": http.StatusOK, "client-go": http.StatusUnauthorized} {
			// The script answers once with the revoked token; the next run gives the good one.
			p := newPlugin(t, `[ -e "$LAB/again" ] || { : >"$LAB/again"; exec cat "$LAB/answer"; }
printf '%s' '`+good+`'; exit 0`, revoked)
			ours, theirs := both(t, config(p), transport.Options{Repeat: true})
			response, err := map[string]*http.Client{"lanyard": ours, "client-go": theirs}[name].Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%s: status = %d, want %d", name, response.StatusCode, want)
			}
		}
	})
	t.Run("ECR-28 the caller's request is not changed", func(t *testing.T) {
		p := newPlugin(t, "", good)
		ours, theirs := both(t, config(p), transport.Options{})
		changed := func(client *http.Client) bool {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			return request.Header.Get("Authorization") != ""
		}
		if changed(ours) || !changed(theirs) {
			t.Error("want an unchanged request from us and a changed one from client-go")
		}
	})
	t.Run("ECR-28 a redirect does not take the token to another server", func(t *testing.T) {
		tokens := make(chan string, 1)
		elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			tokens <- r.Header.Get("Authorization")
		}))
		defer elsewhere.Close()
		here := httptest.NewTLSServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
		defer here.Close()
		p := newPlugin(t, "", good)
		ours, ourErr := lanyard(t, config(p), here.URL, transport.Options{})
		theirs, theirErr := clientGo(config(p), here.URL)
		if ourErr != nil || theirErr != nil {
			t.Fatal(ourErr, theirErr)
		}
		arrives := func(client *http.Client) bool {
			response, err := client.Get(here.URL)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			return <-tokens != ""
		}
		if arrives(ours) || !arrives(theirs) {
			t.Error("want no token elsewhere from us and one from client-go")
		}
	})
	t.Run("ECR-28 a request of the same client for another server does not take the token along", func(t *testing.T) {
		elsewhere := newServer(t)
		ours, theirs := both(t, config(newPlugin(t, "", good)), transport.Options{})
		var other *transport.OriginError
		if _, err := ours.Get(elsewhere.URL); !errors.As(err, &other) {
			t.Errorf("Get = %v, want *OriginError", err)
		}
		response, err := theirs.Get(elsewhere.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), "Bearer") {
			t.Errorf("client-go sends %q, %v, want the token", body, err)
		}
	})
	t.Run("ECR-12 a plugin that is missing by path gives its install hint too", func(t *testing.T) {
		missing := execcredential.ExecConfig{Command: "/nonexistent/plugin", APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever, InstallHint: "brew install it"}
		ours, theirs := both(t, missing, transport.Options{})
		_, ourErr := ours.Get(server.URL)
		_, theirErr := theirs.Get(server.URL)
		if !errors.Is(ourErr, pluginexec.ErrNotFound) || !strings.Contains(ourErr.Error(), "brew") || strings.Contains(theirErr.Error(), "brew") {
			t.Errorf("errors = %v; client-go's %v", ourErr, theirErr)
		}
	})
	t.Run("ECR-25 output is bounded", func(t *testing.T) {
		p := newPlugin(t, "head -c 3000000 /dev/zero | tr '\\0' ' '", good)
		ours, theirs := both(t, config(p), transport.Options{})
		var large *pluginexec.OutputTooLargeError
		if _, err := ours.Get(server.URL); !errors.As(err, &large) {
			t.Errorf("Get = %v, want *OutputTooLargeError", err)
		}
		response, err := theirs.Get(server.URL)
		if err != nil {
			t.Fatalf("client-go: %v, want 3 MB read whole", err)
		}
		response.Body.Close()
	})
}
