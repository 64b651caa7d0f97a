package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/redact"
)

const secretToken = "eyJhbGciOiJSUzI1NiJ9.c2VjcmV0LXRva2Vu.c2lnbmF0dXJl"

// find puts the test plugin into a plugin directory and returns it.
func find(t *testing.T, change func(*credprovider.Provider)) *plugin.Plugin {
	t.Helper()
	config := credprovider.Provider{Name: filepath.Base(exchange), APIVersion: credprovider.V1}
	if change != nil {
		change(&config)
	}
	p, err := plugin.Find(config, filepath.Dir(exchange), plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func env(pairs ...string) func(*credprovider.Provider) {
	return func(p *credprovider.Provider) {
		for i := 0; i < len(pairs); i += 2 {
			p.Env = append(p.Env, credprovider.EnvVar{Name: pairs[i], Value: redact.New(pairs[i+1])})
		}
	}
}

func request() credprovider.Request {
	return credprovider.Request{APIVersion: credprovider.V1, Image: "reg.io/app", ServiceAccountToken: redact.New(secretToken), ServiceAccountAnnotations: map[string]string{"a": "1"}}
}

func TestRun(t *testing.T) {
	t.Run("CRP-5 CRP-24 request in, credentials out", func(t *testing.T) {
		runs := filepath.Join(t.TempDir(), "runs")
		response, err := find(t, env("RUNS", runs, "DURATION", "5m")).Run(context.Background(), request())
		if err != nil {
			t.Fatal(err)
		}
		if auth := response.Auth["reg.io"]; auth.Username != "reg.io/app" || !strings.HasPrefix(auth.Password.Reveal(), "pw-") || response.CacheDuration.String() != "5m0s" {
			t.Errorf("Run = %+v", response)
		}
		seen, _ := os.ReadFile(runs)
		if want := fmt.Sprintf("reg.io/app %d map[a:1]", len(secretToken)); !strings.Contains(string(seen), want) {
			t.Errorf("the plugin saw %q, want %q", seen, want)
		}
	})
	for _, version := range []string{credprovider.V1beta1, credprovider.V1alpha1} {
		t.Run("CRP-5 "+version, func(t *testing.T) {
			p := find(t, func(p *credprovider.Provider) { p.APIVersion = version })
			response, err := p.Run(context.Background(), credprovider.Request{APIVersion: version, Image: "reg.io/app"})
			if err != nil || response.APIVersion != version {
				t.Errorf("Run = %+v, %v", response, err)
			}
		})
	}
	t.Run("CRP-5 a request in another version is not sent", func(t *testing.T) {
		p := find(t, func(p *credprovider.Provider) { p.APIVersion = credprovider.V1beta1 })
		if _, err := p.Run(context.Background(), request()); !errors.Is(err, plugin.ErrVersion) || plugin.RunFailed(err) {
			t.Errorf("Run = %v, want ErrVersion", err)
		}
	})
	t.Run("CRP-22 an echo of the token is refused", func(t *testing.T) {
		echo := func(cacheType credprovider.TokenCacheType) error {
			p := find(t, func(p *credprovider.Provider) {
				env("ECHO", "1")(p)
				p.TokenAttributes = &credprovider.TokenAttributes{CacheType: cacheType}
			})
			_, err := p.Run(context.Background(), request())
			return err
		}
		if err := echo(credprovider.CacheByServiceAccount); !errors.Is(err, plugin.ErrEcho) || plugin.RunFailed(err) || strings.Contains(err.Error(), secretToken) {
			t.Errorf("Run = %v, want ErrEcho", err)
		}
		if err := echo(credprovider.CacheByToken); err != nil {
			t.Errorf("Run with cacheType Token = %v", err)
		}
	})
	t.Run("CRP-5 CRP-22 the plugin's stderr is a field, without the token, and in no text", func(t *testing.T) {
		_, err := find(t, env("REFUSE", "1")).Run(context.Background(), request())
		var failed *plugin.Error
		if !errors.As(err, &failed) || !errors.Is(err, plugin.ErrExit) || failed.ExitCode != 1 || string(failed.Stderr.Reveal()) != "no credentials for token [redacted]\n" {
			t.Fatalf("Run = %v with stderr %q", err, failed.Stderr.Reveal())
		}
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), fmt.Sprintf("%#v", *failed)} {
			if strings.Contains(text, secretToken) || strings.Contains(text, "no credentials") {
				t.Errorf("error shows %q", text)
			}
		}
	})
	t.Run("CRP-5 a cancelled caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := find(t, nil).Run(ctx, request()); !errors.Is(err, plugin.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want ErrCancelled and context.Canceled", err)
		}
	})
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Run("CRP-28 a missing binary is an error of the load", func(t *testing.T) {
		_, err := plugin.FindAll([]credprovider.Provider{{Name: "one"}, {Name: "two"}}, dir, plugin.Options{})
		if !errors.Is(err, plugin.ErrMissing) || !strings.Contains(err.Error(), `"one"`) || !strings.Contains(err.Error(), `"two"`) {
			t.Errorf("FindAll = %v, want both missing", err)
		}
	})
	t.Run("CRP-28 no plugin directory", func(t *testing.T) {
		if _, err := plugin.FindAll(nil, filepath.Join(dir, "none"), plugin.Options{}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("FindAll = %v", err)
		}
		if _, err := plugin.FindAll(nil, exchange, plugin.Options{}); err == nil {
			t.Error("FindAll in a file = nil error")
		}
	})
	t.Run("CRP-28 the binary is not searched on PATH", func(t *testing.T) {
		if _, err := plugin.Find(credprovider.Provider{Name: "go"}, dir, plugin.Options{}); !errors.Is(err, plugin.ErrMissing) {
			t.Errorf("Find = %v, want ErrMissing", err)
		}
	})
	t.Run("CRP-28 the path is binDir and name", func(t *testing.T) {
		p := find(t, nil)
		if p.Path() != exchange || p.Name() != filepath.Base(exchange) {
			t.Errorf("Find = %v", p)
		}
	})
	t.Run("CRP-22 a plugin prints without its environment", func(t *testing.T) {
		p := find(t, env("PASSWORD", "hunter2"))
		if text := fmt.Sprintf("%v %+v %#v %s", p, p, p, p); strings.Contains(text, "hunter2") {
			t.Errorf("plugin prints %s", text)
		}
	})
}
