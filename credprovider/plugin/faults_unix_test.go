//go:build unix

package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/redact"
)

const answer = `{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Image"}`

// script returns a plugin that is a shell script.
func script(t *testing.T, body string, change func(*credprovider.Provider, *plugin.Options)) *plugin.Plugin {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sh"), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config, options := credprovider.Provider{Name: "sh", APIVersion: credprovider.V1}, plugin.Options{}
	if change != nil {
		change(&config, &options)
	}
	p, err := plugin.Find(config, dir, options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFaults(t *testing.T) {
	short := func(_ *credprovider.Provider, o *plugin.Options) { o.Timeout = 200 * time.Millisecond }
	cases := []struct {
		name, body string
		change     func(*credprovider.Provider, *plugin.Options)
		want       error
		runFailed  bool
	}{
		{"CRP-5 hangs", "exec sleep 60", short, plugin.ErrTimeout, true},
		{"CRP-5 hangs in a child of its own", "sleep 60 & wait", short, plugin.ErrTimeout, true},
		{"CRP-5 writes without end", "yes", nil, plugin.ErrOutputTooLarge, true},
		{"CRP-5 more than its limit", "echo 12345678901", func(_ *credprovider.Provider, o *plugin.Options) { o.MaxOutput = 10 }, plugin.ErrOutputTooLarge, true},
		{"CRP-5 a log line before its answer", "echo starting; echo '" + answer + "'", nil, plugin.ErrInvalidResponse, false},
		{"CRP-5 exit 3", "echo '" + answer + "'; echo why >&2; exit 3", nil, plugin.ErrExit, true},
		{"CRP-5 dies while it writes", `printf '{"kind":"Cred'; kill -9 $$`, nil, plugin.ErrExit, true},
		{"CRP-5 half an answer", `printf '{"kind":"Cred'`, nil, plugin.ErrInvalidResponse, false},
		{"CRP-5 another version", "echo '" + strings.Replace(answer, "/v1", "/v1beta1", 1) + "'", nil, plugin.ErrVersion, false},
		{"CRP-5 another cacheKeyType", "echo '" + strings.Replace(answer, "Image", "ServiceAccount", 1) + "'", nil, plugin.ErrCacheKeyType, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := script(t, c.body, c.change).Run(context.Background(), request())
			var e *plugin.Error
			if !errors.As(err, &e) || e.Kind != c.want || plugin.RunFailed(err) != c.runFailed || e.Provider != "sh" || e.Image != "reg.io/app" {
				t.Errorf("Run = %v, want %v", err, c.want)
			}
		})
	}
	t.Run("CRP-5 a child that keeps the output open does not hold the answer", func(t *testing.T) {
		start := time.Now()
		_, err := script(t, "sleep 60 & echo '"+answer+"'", nil).Run(context.Background(), request())
		if err != nil || time.Since(start) > 30*time.Second {
			t.Errorf("Run = %v after %v", err, time.Since(start))
		}
	})
	t.Run("CRP-5 exit code and stderr are fields", func(t *testing.T) {
		_, err := script(t, "echo why >&2; exit 3", nil).Run(context.Background(), request())
		var e *plugin.Error
		if !errors.As(err, &e) || e.ExitCode != 3 || string(e.Stderr.Reveal()) != "why\n" {
			t.Errorf("Run = %#v", err)
		}
	})
	t.Run("CRP-5 not executable, and gone since it was found", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "p")
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		config := credprovider.Provider{Name: "p", APIVersion: credprovider.V1}
		if _, err := plugin.Find(config, dir, plugin.Options{}); !errors.Is(err, plugin.ErrNotExecutable) {
			t.Errorf("Find = %v, want ErrNotExecutable", err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		p, err := plugin.Find(config, dir, plugin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(context.Background(), request()); !errors.Is(err, plugin.ErrMissing) {
			t.Errorf("Run = %v, want ErrMissing", err)
		}
	})
	t.Run("CRP-5 arguments as they are, the configured environment over the host's", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		p := script(t, `printf '%s|' "$@" "$HOST" "$BOTH" > "$OUT"; echo '`+answer+"'", func(c *credprovider.Provider, o *plugin.Options) {
			c.Args = redact.Texts("a b", "$HOME", "*", "")
			c.Env = []credprovider.EnvVar{{Name: "BOTH", Value: redact.New("first")}, {Name: "BOTH", Value: redact.New("config")}, {Name: "OUT", Value: redact.New(out)}}
			o.Env = redact.Texts("HOST=host", "BOTH=host")
		})
		if _, err := p.Run(context.Background(), request()); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(out); string(got) != "a b|$HOME|*||host|config|" {
			t.Errorf("the plugin saw %q", got)
		}
	})
	t.Run("CRP-22 the token is in no argument and no environment", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		p := script(t, `env > "$OUT"; printf '%s ' "$0" "$@" >> "$OUT"; cat > "$OUT.stdin"; echo '`+answer+"'", func(c *credprovider.Provider, _ *plugin.Options) {
			c.Env = []credprovider.EnvVar{{Name: "OUT", Value: redact.New(out)}}
		})
		if _, err := p.Run(context.Background(), request()); err != nil {
			t.Fatal(err)
		}
		seen, err := os.ReadFile(out)
		if err != nil || bytes.Contains(seen, []byte(secretToken)) {
			t.Errorf("arguments and environment: %v, %s", err, seen)
		}
		if stdin, _ := os.ReadFile(out + ".stdin"); !bytes.Contains(stdin, []byte(secretToken)) {
			t.Errorf("standard input %q has no token", stdin)
		}
	})
	t.Run("CRP-22 a token that was cut at the start of stderr is cut out too", func(t *testing.T) {
		body := `read -r line; token=${line#*serviceAccountToken\":\"}; token=${token%%\"*}; printf '%s' "$token" >&2; head -c 4070 /dev/zero | tr '\0' . >&2; exit 1`
		_, err := script(t, body, nil).Run(context.Background(), request())
		var e *plugin.Error
		if !errors.As(err, &e) || bytes.Contains(e.Stderr.Reveal(), []byte("c2lnbmF0dXJl")) || !bytes.HasPrefix(e.Stderr.Reveal(), []byte("[redacted]")) {
			t.Fatalf("stderr = %.60q", e.Stderr.Reveal())
		}
	})
	t.Run("CRP-18 one binary under several names", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{"reg", "reg-tokens"} {
			if err := os.Symlink(exchange, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		found, err := plugin.FindAll([]credprovider.Provider{{Name: "reg", APIVersion: credprovider.V1}, {Name: "reg-tokens", APIVersion: credprovider.V1}}, dir, plugin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if response, err := p.Run(context.Background(), request()); err != nil || len(response.Auth) != 1 {
				t.Errorf("%v: %+v, %v", p, response, err)
			}
		}
	})
	t.Run("stderr is handed on while the plugin runs", func(t *testing.T) {
		var log bytes.Buffer
		p := script(t, "echo working >&2; echo '"+answer+"'", func(_ *credprovider.Provider, o *plugin.Options) { o.Stderr = &log })
		if _, err := p.Run(context.Background(), request()); err != nil || log.String() != "working\n" {
			t.Errorf("Run = %v, log %q", err, log.String())
		}
	})
}
