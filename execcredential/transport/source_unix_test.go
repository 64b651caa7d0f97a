//go:build unix

package transport_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestPluginSees(t *testing.T) {
	plugin := loginlab.NewPlugin(t, `env >"$LAB/env"; cat >"$LAB/stdin"; printf '%s|' "$@" >"$LAB/args"`)
	plugin.Status("t", "", "", time.Time{})
	config := plugin.Config()
	config.Args = redact.Texts("a b", "$HOME", "*")
	config.ProvideClusterInfo = true
	config.Env = []execcredential.EnvVar{{Name: "SHARED", Value: redact.New("config")}, {Name: execcredential.InfoEnv, Value: redact.New("config")}}
	pool := newPool(t, transport.Options{Environ: func() []string {
		return append(os.Environ(), "SHARED=host", "HOSTONLY=host", execcredential.InfoEnv+"=host")
	}})
	source, err := pool.Source(config, &execcredential.Cluster{Server: "https://s", Config: redact.NewBytes([]byte(`{"audience":"a"}`))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Credential(t.Context()); err != nil {
		t.Fatal(err)
	}
	environ := "\n" + string(plugin.File("env"))
	t.Run("ECR-3 the host's environment, overridden by the configured, overridden by the information", func(t *testing.T) {
		for _, want := range []string{"HOSTONLY=host", "SHARED=config", execcredential.InfoEnv + `={"kind":"ExecCredential"`} {
			if !strings.Contains(environ, "\n"+want) {
				t.Errorf("environment has no %s", want)
			}
		}
	})
	t.Run("ECR-4 the cluster and its extension are in the information", func(t *testing.T) {
		if want := `"cluster":{"server":"https://s","config":{"audience":"a"}}`; !strings.Contains(environ, want) {
			t.Errorf("environment has no %s", want)
		}
	})
	t.Run("ECR-3 standard input is empty and arguments come as they are", func(t *testing.T) {
		if got := string(plugin.File("args")); len(plugin.File("stdin")) != 0 || got != "a b|$HOME|*|" {
			t.Errorf("stdin %q, args %q", plugin.File("stdin"), got)
		}
	})
}

func TestSourceCaches(t *testing.T) {
	now := newClock()
	pool := newPool(t, transport.Options{Now: now.Now})
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("one", "", "", now.Now().Add(time.Hour))
	source := newSource(t, pool, plugin.Config())
	token := func() string {
		t.Helper()
		credential, err := source.Credential(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return credential.Token().Reveal()
	}
	t.Run("ECR-7 KEP-541 unit: the executable is only called as needed, and a credential is used across many requests", func(t *testing.T) {
		for range 100 {
			if got := token(); got != "one" {
				t.Fatalf("token = %q, want one", got)
			}
		}
		if plugin.Runs() != 1 {
			t.Errorf("runs = %d, want 1", plugin.Runs())
		}
	})
	t.Run("ECR-8 KEP-541 unit: expired credentials are rotated automatically", func(t *testing.T) {
		plugin.Status("two", "", "", time.Time{})
		now.Advance(time.Hour)
		if got := token(); got != "one" {
			t.Errorf("at the expiry token = %q, want one", got)
		}
		now.Advance(time.Nanosecond)
		if got := token(); got != "two" || plugin.Runs() != 2 {
			t.Errorf("after the expiry token = %q, runs = %d, want two, 2", got, plugin.Runs())
		}
	})
	t.Run("ECR-7 without an expiry it is used for the life of the client", func(t *testing.T) {
		now.Advance(100 * 365 * 24 * time.Hour)
		if got := token(); got != "two" || plugin.Runs() != 2 {
			t.Errorf("token = %q, runs = %d, want two, 2", got, plugin.Runs())
		}
	})
	t.Run("a reset runs the plugin again", func(t *testing.T) {
		source.Reset()
		token()
		if plugin.Runs() != 3 {
			t.Errorf("runs = %d, want 3", plugin.Runs())
		}
	})
}

func TestSingleFlight(t *testing.T) {
	t.Run("ECR-10 KEP-541 unit: a thousand callers with an expired credential share one run", func(t *testing.T) {
		now := newClock()
		pool := newPool(t, transport.Options{Now: now.Now})
		plugin := loginlab.NewPlugin(t, "sleep 0.2")
		plugin.Status("one", "", "", now.Now().Add(time.Hour))
		first := newSource(t, pool, plugin.Config())
		if _, err := first.Credential(t.Context()); err != nil {
			t.Fatal(err)
		}
		now.Advance(2 * time.Hour)
		plugin.Status("two", "", "", time.Time{})
		second := newSource(t, pool, plugin.Config())
		var group sync.WaitGroup
		for i := range 1000 {
			source := []*transport.Source{first, second}[i%2]
			group.Go(func() {
				if credential, err := source.Credential(t.Context()); err != nil || credential.Token().Reveal() != "two" {
					t.Errorf("Credential = %v, %v, want two", credential, err)
				}
			})
		}
		group.Wait()
		if plugin.Runs() != 2 {
			t.Errorf("runs = %d, want one before and one after the expiry", plugin.Runs())
		}
	})
	t.Run("ECR-10 configurations that differ have runs of their own", func(t *testing.T) {
		pool := newPool(t, transport.Options{})
		plugin := loginlab.NewPlugin(t, "")
		plugin.Status("t", "", "", time.Time{})
		other := plugin.Config()
		other.Env = []execcredential.EnvVar{{Name: "A", Value: redact.New("1")}}
		for _, config := range []execcredential.ExecConfig{plugin.Config(), other} {
			if _, err := newSource(t, pool, config).Credential(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if plugin.Runs() != 2 {
			t.Errorf("runs = %d, want 2", plugin.Runs())
		}
	})
	t.Run("ECR-10 a caller whose context ends leaves at once, and the others get their credential", func(t *testing.T) {
		pool := newPool(t, transport.Options{})
		plugin := loginlab.NewPlugin(t, `echo >"$LAB/started"; while [ ! -e "$LAB/go" ]; do sleep 0.01; done`)
		plugin.Status("t", "", "", time.Time{})
		source := newSource(t, pool, plugin.Config())
		stays := make(chan error, 1)
		go func() { _, err := source.Credential(context.Background()); stays <- err }()
		eventually(t, "plugin runs", func() bool { return plugin.File("started") != nil })
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := source.Credential(ctx)
		var wait *transport.WaitError
		if !errors.As(err, &wait) || !errors.Is(err, context.DeadlineExceeded) || wait.Waited > 5*time.Second {
			t.Errorf("Credential = %v, want *WaitError at the deadline", err)
		}
		plugin.Put("go")
		if err := <-stays; err != nil || plugin.Runs() != 1 {
			t.Errorf("Credential = %v, runs = %d, want nil, 1", err, plugin.Runs())
		}
	})
	t.Run("ECR-10 a run without callers goes on, its credential is kept, and nobody runs the plugin again for it", func(t *testing.T) {
		pool := newPool(t, transport.Options{})
		plugin := loginlab.NewPlugin(t, `echo >"$LAB/started"; while [ ! -e "$LAB/go" ]; do sleep 0.01; done`)
		plugin.Status("t", "", "", time.Time{})
		source := newSource(t, pool, plugin.Config())
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { _, err := source.Credential(ctx); left <- err }()
		eventually(t, "plugin runs", func() bool { return plugin.File("started") != nil })
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("Credential = %v, want context.Canceled", err)
		}
		plugin.Put("go")
		credential, err := source.Credential(t.Context())
		if err != nil || credential.Token().Reveal() != "t" || plugin.Runs() != 1 {
			t.Errorf("the next Credential = %v, %v, runs = %d, want that of the first run", credential, err, plugin.Runs())
		}
	})
	t.Run("ECR-10 many short-lived callers make a slow login succeed", func(t *testing.T) {
		pool := newPool(t, transport.Options{})
		plugin := loginlab.NewPlugin(t, `sleep 0.5`)
		plugin.Status("t", "", "", time.Time{})
		source := newSource(t, pool, plugin.Config())
		gaveUp := 0
		eventually(t, "a caller of 20 ms gets the credential", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := source.Credential(ctx)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Credential = %v, want nil or DeadlineExceeded", err)
			}
			gaveUp++
			return err == nil
		})
		if plugin.Runs() != 1 || gaveUp < 5 {
			t.Errorf("runs = %d for %d callers, want 1 for several", plugin.Runs(), gaveUp)
		}
	})
	t.Run("ECR-10 a run without callers ends at its time limit, and that is a failure", func(t *testing.T) {
		now := newClock()
		pool := newPool(t, transport.Options{Timeout: 200 * time.Millisecond, Now: now.Now})
		plugin := loginlab.NewPlugin(t, `echo $$ >"$LAB/pid.new"; mv "$LAB/pid.new" "$LAB/pid"; exec sleep 1000`)
		source := newSource(t, pool, plugin.Config())
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := source.Credential(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Credential = %v, want DeadlineExceeded", err)
		}
		_, err := source.Credential(t.Context())
		if !is[*pluginexec.TimeoutError](err) {
			t.Errorf("Credential = %v, want *TimeoutError", err)
		}
		eventually(t, "plugin is killed", func() bool { return !alive(plugin.File("pid")) })
	})
	t.Run("ECR-10 a caller whose context has ended runs nothing", func(t *testing.T) {
		plugin := loginlab.NewPlugin(t, "")
		plugin.Status("t", "", "", time.Time{})
		source := newSource(t, newPool(t, transport.Options{}), plugin.Config())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := source.Credential(ctx); !is[*transport.WaitError](err) || !errors.Is(err, context.Canceled) || plugin.Runs() != 0 {
			t.Errorf("Credential = %v, runs = %d, want *WaitError, 0", err, plugin.Runs())
		}
	})
	t.Run("ECR-10 Close ends a run that nobody waits for", func(t *testing.T) {
		pool := newPool(t, transport.Options{})
		plugin := loginlab.NewPlugin(t, `echo $$ >"$LAB/pid.new"; mv "$LAB/pid.new" "$LAB/pid"; exec sleep 1000`)
		source := newSource(t, pool, plugin.Config())
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { _, err := source.Credential(ctx); left <- err }()
		eventually(t, "plugin runs", func() bool { return plugin.File("pid") != nil })
		cancel()
		<-left
		if !alive(plugin.File("pid")) {
			t.Error("the plugin died with its caller")
		}
		pool.Close()
		if alive(plugin.File("pid")) {
			t.Error("the plugin is alive after Close")
		}
	})
	t.Run("ECR-10 a panic in a run is a failure and not a hang", func(t *testing.T) {
		plugin := loginlab.NewPlugin(t, "")
		pool := newPool(t, transport.Options{Environ: func() []string { panic("open-sesame-4711") }})
		source := newSource(t, pool, plugin.Config())
		if _, err := source.Credential(t.Context()); !is[*transport.PluginError](err) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("Credential = %v, want *PluginError", err)
		}
		if _, err := source.Credential(t.Context()); !is[*transport.BackoffError](err) {
			t.Errorf("the next Credential = %v, want *BackoffError", err)
		}
	})
}

func TestFailingPlugin(t *testing.T) {
	t.Run("ECR-13 runs are bounded by backoff, and every caller gets the error at once", func(t *testing.T) {
		now := newClock()
		pool := newPool(t, transport.Options{Now: now.Now})
		plugin := loginlab.NewPlugin(t, `echo why >&2; exit 3`)
		source := newSource(t, pool, plugin.Config())
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var group sync.WaitGroup
		for range 1000 {
			group.Go(func() {
				_, err := source.Credential(ctx)
				var exit *pluginexec.ExitError
				if !errors.As(err, &exit) || exit.Code != 3 || string(exit.Stderr.Reveal()) != "why\n" {
					t.Errorf("Credential = %v, want exit code 3", err)
				}
			})
		}
		group.Wait()
		if plugin.Runs() != 1 {
			t.Errorf("runs = %d, want 1", plugin.Runs())
		}
		for range 600 { // a minute, ten requests a second
			_, _ = source.Credential(ctx)
			now.Advance(100 * time.Millisecond)
		}
		if got := plugin.Runs(); got < 3 || got > 12 {
			t.Errorf("runs in a minute of requests = %d, want a few", got)
		}
	})
	t.Run("ECR-13 a plugin that recovers is used after its pause", func(t *testing.T) {
		now := newClock()
		pool := newPool(t, transport.Options{Now: now.Now})
		plugin := loginlab.NewPlugin(t, "")
		plugin.Answer("nonsense")
		source := newSource(t, pool, plugin.Config())
		var decode *execcredential.DecodeError
		if _, err := source.Credential(t.Context()); !errors.As(err, &decode) {
			t.Errorf("Credential = %v, want *DecodeError", err)
		}
		plugin.Status("t", "", "", time.Time{})
		var pause *transport.BackoffError
		if _, err := source.Credential(t.Context()); !errors.As(err, &pause) || !errors.As(err, &decode) {
			t.Fatalf("Credential in the pause = %v, want *BackoffError with the last error", err)
		}
		now.Advance(pause.Until.Sub(now.Now()))
		if _, err := source.Credential(t.Context()); err != nil {
			t.Errorf("Credential after the pause = %v, want nil", err)
		}
	})
	t.Run("ECR-13 an answer that has always expired does not run the plugin for each caller", func(t *testing.T) {
		now := newClock()
		pool := newPool(t, transport.Options{Now: now.Now})
		plugin := loginlab.NewPlugin(t, "")
		plugin.Status("t", "", "", now.Now().Add(-time.Hour))
		source := newSource(t, pool, plugin.Config())
		for range 100 {
			if _, err := source.Credential(t.Context()); err != nil {
				t.Fatalf("Credential = %v, want the answer as client-go uses it", err)
			}
		}
		if plugin.Runs() != 1 {
			t.Errorf("runs = %d, want 1", plugin.Runs())
		}
	})
}

func TestBadPlugins(t *testing.T) {
	cases := []struct {
		name, body string
		check      func(error) bool
	}{
		{"ECR-11 KEP-541 unit: reasonable timeout: a plugin that hangs", `trap '' TERM; while :; do sleep 1; done`, is[*pluginexec.TimeoutError]},
		{"ECR-25 a plugin that floods", `exec cat /dev/zero`, is[*pluginexec.OutputTooLargeError]},
		{"ECR-6 a plugin that lies about its version", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"t"}}'; exit 0`, is[*execcredential.VersionError]},
		{"a plugin that is killed", `kill -9 $$`, is[*pluginexec.ExitError]},
		{"ECR-24 a plugin that wants a terminal and gets none ends, it does not hang", `read answer </dev/tty || exit 9`, is[*pluginexec.ExitError]},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			pool := newPool(t, transport.Options{Timeout: time.Second})
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := newSource(t, pool, loginlab.NewPlugin(t, c.body).Config()).Credential(ctx); !c.check(err) {
				t.Errorf("Credential = %v (%T)", err, errors.Unwrap(err))
			}
		})
	}
	t.Run("ECR-11 a grandchild that holds standard output does not hold the caller", func(t *testing.T) {
		pool := newPool(t, transport.Options{})
		plugin := loginlab.NewPlugin(t, `sleep 1000 & echo $! >"$LAB/pid"`)
		plugin.Status("t", "", "", time.Time{})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if _, err := newSource(t, pool, plugin.Config()).Credential(ctx); err != nil {
			t.Errorf("Credential = %v, want nil", err)
		}
		kill(plugin.File("pid"))
	})
	t.Run("the default time limit is a minute", func(t *testing.T) {
		if transport.DefaultTimeout != time.Minute {
			t.Errorf("DefaultTimeout = %v", transport.DefaultTimeout)
		}
	})
}

func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

func TestPolicyIsAsked(t *testing.T) {
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	for name, policy := range map[string]execcredential.Policy{
		"denied": {Type: execcredential.PolicyDenyAll}, "not listed": {Type: execcredential.PolicyAllowlist, Commands: []string{"other"}},
	} {
		t.Run("ECR-21 a plugin that is "+name+" is not run", func(t *testing.T) {
			_, err := newSource(t, newPool(t, transport.Options{Policy: policy}), plugin.Config()).Credential(t.Context())
			if !errors.Is(err, execcredential.ErrNotPermitted) || plugin.Runs() != 0 {
				t.Errorf("Credential = %v, runs = %d, want ErrNotPermitted, 0", err, plugin.Runs())
			}
		})
	}
	t.Run("ECR-21 a plugin that is listed runs", func(t *testing.T) {
		policy := execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: []string{plugin.Path}}
		if _, err := newSource(t, newPool(t, transport.Options{Policy: policy}), plugin.Config()).Credential(t.Context()); err != nil {
			t.Errorf("Credential = %v, want nil", err)
		}
	})
	t.Run("ECR-21 a policy that is half set makes no pool", func(t *testing.T) {
		if _, err := transport.NewPool(transport.Options{Policy: execcredential.Policy{Type: execcredential.PolicyAllowlist}}); err == nil {
			t.Error("NewPool = nil error, want one")
		}
	})
}

func TestInstallHint(t *testing.T) {
	now := newClock()
	hinted := func(t *testing.T, err error) bool {
		t.Helper()
		var plugin *transport.PluginError
		if !errors.As(err, &plugin) {
			t.Fatalf("Credential = %v, want *PluginError", err)
		}
		return strings.Contains(err.Error(), "brew install")
	}
	for name, command := range map[string]string{"by name": "no-such-plugin-4711", "by path": "/nonexistent/plugin"} {
		t.Run("ECR-12 not found "+name+": the hint, at most ten times an hour", func(t *testing.T) {
			pool := newPool(t, transport.Options{Now: now.Now})
			source := newSource(t, pool, execcredential.ExecConfig{
				Command: command, APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever, InstallHint: "brew install \x1b[31mplugin\n",
			})
			try := func() (bool, error) {
				source.Reset()
				_, err := source.Credential(t.Context())
				if !errors.Is(err, pluginexec.ErrNotFound) || errors.Is(err, pluginexec.ErrNotExecutable) {
					t.Fatalf("Credential = %v, want ErrNotFound", err)
				}
				return hinted(t, err), err
			}
			_, err := try()
			if strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), "U+001B[31mplugin") {
				t.Errorf("error = %q, want its escape made visible", err)
			}
			given := 1
			for range 30 {
				if yes, _ := try(); yes {
					given++
				}
			}
			if given != 10 {
				t.Errorf("hints = %d, want 10", given)
			}
			now.Advance(time.Hour)
			if yes, _ := try(); !yes {
				t.Error("no hint after an hour")
			}
		})
	}
	t.Run("ECR-12 not executable is another error, without hint", func(t *testing.T) {
		plugin := loginlab.NewPlugin(t, "")
		if err := os.Chmod(plugin.Path, 0o644); err != nil {
			t.Fatal(err)
		}
		config := plugin.Config()
		config.InstallHint = "brew install"
		_, err := newSource(t, newPool(t, transport.Options{}), config).Credential(t.Context())
		if !errors.Is(err, pluginexec.ErrNotExecutable) || errors.Is(err, pluginexec.ErrNotFound) || hinted(t, err) {
			t.Errorf("Credential = %v, want ErrNotExecutable without hint", err)
		}
	})
}

func TestPoolBounds(t *testing.T) {
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	numbered := func(n int) execcredential.ExecConfig {
		config := plugin.Config()
		config.Args = redact.Texts(strings.Repeat("x", n))
		return config
	}
	t.Run("sources in use are kept, one that is closed makes room", func(t *testing.T) {
		pool := newPool(t, transport.Options{MaxSources: 2})
		first, second := newSource(t, pool, numbered(1)), newSource(t, pool, numbered(2))
		if _, err := pool.Source(numbered(3), nil); !errors.Is(err, transport.ErrPoolFull) {
			t.Fatalf("Source = %v, want ErrPoolFull", err)
		}
		first.Close()
		first.Close() // twice counts once
		newSource(t, pool, numbered(3))
		if _, err := first.Credential(t.Context()); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Credential of the evicted = %v, want ErrClosed", err)
		}
		if _, err := second.Credential(t.Context()); err != nil {
			t.Errorf("Credential of the kept = %v, want nil", err)
		}
	})
	t.Run("a closed pool has ended its runs and gives nothing", func(t *testing.T) {
		slow := loginlab.NewPlugin(t, `echo $$ >"$LAB/pid"; exec sleep 1000`)
		pool := newPool(t, transport.Options{})
		source := newSource(t, pool, slow.Config())
		failed := make(chan error, 1)
		go func() { _, err := source.Credential(context.Background()); failed <- err }()
		eventually(t, "plugin runs", func() bool { return len(slow.File("pid")) > 0 })
		pool.Close()
		if alive(slow.File("pid")) {
			t.Error("the plugin is alive after Close")
		}
		if err := <-failed; !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Credential = %v, want ErrClosed", err)
		}
		if _, err := pool.Source(numbered(1), nil); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Source = %v, want ErrClosed", err)
		}
	})
	t.Run("ECR-2 a faulty configuration makes no source", func(t *testing.T) {
		if _, err := newPool(t, transport.Options{}).Source(execcredential.ExecConfig{}, nil); !is[*execcredential.FieldError](err) {
			t.Errorf("Source = %v, want *FieldError", err)
		}
	})
}
