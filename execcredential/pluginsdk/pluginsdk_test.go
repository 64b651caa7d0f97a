package pluginsdk_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/pluginsdk"
	"github.com/lanyard-dev/lanyard/redact"
)

// TestMain makes this binary a plugin when it is started as one: a Go plugin that is a real process.
func TestMain(m *testing.M) {
	switch os.Getenv("LAB_PLUGIN") {
	case "login":
		os.Exit(pluginsdk.Main(slowLogin, pluginsdk.Options{Cache: &pluginsdk.Cache{Dir: os.Getenv("LAB_CACHE")}}))
	case "fail":
		os.Exit(pluginsdk.Main(func(context.Context, pluginsdk.Request) (execcredential.Status, error) {
			return execcredential.Status{}, errors.New("no such user")
		}, pluginsdk.Options{}))
	case "signal":
		os.Exit(pluginsdk.Main(func(ctx context.Context, _ pluginsdk.Request) (execcredential.Status, error) {
			fmt.Fprintln(os.Stderr, "ready")
			<-ctx.Done()
			return execcredential.Status{}, errors.New("ended by a signal")
		}, pluginsdk.Options{}))
	case "crash":
		os.Exit(pluginsdk.Main(func(context.Context, pluginsdk.Request) (execcredential.Status, error) {
			os.Exit(3) // while holding the lock
			return execcredential.Status{}, nil
		}, pluginsdk.Options{Cache: &pluginsdk.Cache{Dir: os.Getenv("LAB_CACHE")}}))
	default:
		os.Exit(m.Run())
	}
}

// slowLogin counts its logins in a file, and takes until standard input ends: the others have to wait for it.
func slowLogin(_ context.Context, request pluginsdk.Request) (execcredential.Status, error) {
	file, err := os.OpenFile(os.Getenv("LAB_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return execcredential.Status{}, err
	}
	defer file.Close()
	if _, err := fmt.Fprintln(file, "login"); err != nil {
		return execcredential.Status{}, err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return execcredential.Status{}, err
	}
	expires := time.Now().Add(time.Hour)
	return execcredential.Status{Token: redact.New("token of " + request.APIVersion), ExpirationTimestamp: &expires}, nil
}

func info(t testing.TB, version string, cluster *execcredential.Cluster, interactive bool) string {
	t.Helper()
	text, err := execcredential.Info(execcredential.ExecConfig{APIVersion: version, ProvideClusterInfo: true}, cluster, interactive)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// plugin starts this binary as a plugin.
func plugin(t *testing.T, kind, version string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), "LAB_PLUGIN="+kind, execcredential.InfoEnv+"="+info(t, version, nil, false)), env...)
	return cmd
}

func TestRun(t *testing.T) {
	for _, version := range []string{execcredential.V1, execcredential.V1Beta1, execcredential.V1Alpha1} {
		t.Run("ECR-1 ECR-22 a function becomes a plugin for "+version, func(t *testing.T) {
			var out bytes.Buffer
			cluster := &execcredential.Cluster{Server: "https://s", Config: redact.NewBytes([]byte(`{"a":1}`))}
			err := pluginsdk.Run(t.Context(), info(t, version, cluster, true), &out, func(_ context.Context, request pluginsdk.Request) (execcredential.Status, error) {
				if !request.Interactive || request.APIVersion != version {
					t.Errorf("request = %+v", request)
				}
				if has := request.Cluster != nil && request.Cluster.Server == "https://s" && string(request.Cluster.Config.Reveal()) == `{"a":1}`; has != (version != execcredential.V1Alpha1) {
					t.Errorf("cluster = %+v", request.Cluster)
				}
				return execcredential.Status{Token: redact.New("t")}, nil
			}, pluginsdk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if credential, err := execcredential.ParseAnswer(out.Bytes(), version); err != nil || credential.Token().Reveal() != "t" {
				t.Errorf("answer = %s, %v", out.Bytes(), err)
			}
		})
	}
	broken := errors.New("broken")
	provider := func(status execcredential.Status, err error) pluginsdk.Provider {
		return func(context.Context, pluginsdk.Request) (execcredential.Status, error) { return status, err }
	}
	var decode *execcredential.DecodeError
	var kind *execcredential.KindError
	cases := []struct {
		name, info string
		provider   pluginsdk.Provider
		check      func(error) bool
	}{
		{"ECR-16 an unset or empty variable", "", nil, func(err error) bool { return errors.Is(err, pluginsdk.ErrNoInfo) }},
		{"ECR-16 a variable that is no object", "{", nil, func(err error) bool { return errors.As(err, &decode) }},
		{"ECR-16 another kind", `{"kind":"Status","apiVersion":"v1"}`, nil, func(err error) bool { return errors.As(err, &kind) }},
		{"ECR-22 a provider that fails", info(t, execcredential.V1, nil, false), provider(execcredential.Status{}, broken), func(err error) bool { return errors.Is(err, broken) }},
		{"ECR-22 an answer that no client would take is not given", info(t, execcredential.V1, nil, false), provider(execcredential.Status{ClientCertificateData: "x"}, nil), func(err error) bool { return errors.Is(err, execcredential.ErrHalfPair) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := pluginsdk.Run(t.Context(), c.info, &out, c.provider, pluginsdk.Options{}); !c.check(err) || out.Len() != 0 {
				t.Errorf("Run = %v, output %q, want the error and no output", err, out.Bytes())
			}
		})
	}
	t.Run("a person may try it by hand, with a default version", func(t *testing.T) {
		var out bytes.Buffer
		err := pluginsdk.Run(t.Context(), "", &out, provider(execcredential.Status{Token: redact.New("t")}, nil), pluginsdk.Options{DefaultVersion: execcredential.V1})
		if err != nil || !strings.Contains(out.String(), execcredential.V1) {
			t.Errorf("Run = %v, output %s", err, out.Bytes())
		}
	})
}

func TestMainProcess(t *testing.T) {
	t.Run("ECR-22 a provider's error goes to standard error, with exit code 1 and no output", func(t *testing.T) {
		cmd := plugin(t, "fail", execcredential.V1)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if cmd.ProcessState.ExitCode() != 1 || len(out) != 0 || stderr.String() != "no such user\n" {
			t.Errorf("plugin: %v, output %q, standard error %q", err, out, stderr.String())
		}
	})
}

func TestMainEndsOnSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send these signals to another on Windows")
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run("ECR-22 a signal ends the provider's context, and the exit code is 1: "+signal.String(), func(t *testing.T) {
			cmd := plugin(t, "signal", execcredential.V1)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			said := bufio.NewReader(stderr)
			if line, err := said.ReadString('\n'); line != "ready\n" {
				t.Fatalf("plugin said %q, %v", line, err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			last, _ := said.ReadString('\n')
			_ = cmd.Wait()
			if cmd.ProcessState.ExitCode() != 1 || last != "ended by a signal\n" {
				t.Errorf("plugin: %v, standard error %q, want exit code 1 and the provider's error", cmd.ProcessState, last)
			}
		})
	}
}

func TestCacheKey(t *testing.T) {
	t.Run("ECR-22 what is not shown is part of the key all the same", func(t *testing.T) {
		cache := &pluginsdk.Cache{Dir: filepath.Join(t.TempDir(), "c")}
		logins := 0
		ask := func(cluster execcredential.Cluster) {
			t.Helper()
			err := pluginsdk.Run(t.Context(), info(t, execcredential.V1, &cluster, false), io.Discard, func(context.Context, pluginsdk.Request) (execcredential.Status, error) {
				logins++
				expires := time.Now().Add(time.Hour)
				return execcredential.Status{Token: redact.New("t"), ExpirationTimestamp: &expires}, nil
			}, pluginsdk.Options{Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			ask(execcredential.Cluster{Server: "https://s"})
			ask(execcredential.Cluster{Server: "https://s", ProxyURL: redact.New("http://p")})
			ask(execcredential.Cluster{Server: "https://s", Config: redact.NewBytes([]byte(`{"audience":"a"}`))})
			ask(execcredential.Cluster{Server: "https://s", Config: redact.NewBytes([]byte(`{"audience":"b"}`))})
		}
		if logins != 4 {
			t.Errorf("logins = %d, want one for each of four clusters", logins)
		}
	})
}

func TestCacheAcrossProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	log := filepath.Join(t.TempDir(), "log")
	t.Run("ECR-22 a holder of the lock that crashed does not block the next", func(t *testing.T) {
		crash := plugin(t, "crash", execcredential.V1, "LAB_CACHE="+dir)
		if _, err := crash.Output(); crash.ProcessState.ExitCode() != 3 {
			t.Fatalf("crash = %v, want exit code 3", err)
		}
	})
	t.Run("ECR-22 ten parallel clients cause one login", func(t *testing.T) {
		stdin, end, err := os.Pipe() // one for all: no login ends before every process has started
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		var answers [10]bytes.Buffer
		var clients [10]*exec.Cmd
		for i := range clients {
			clients[i] = plugin(t, "login", execcredential.V1, "LAB_CACHE="+dir, "LAB_LOG="+log)
			clients[i].Stdin, clients[i].Stdout = stdin, &answers[i]
			if err := clients[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		end.Close()
		for i := range clients {
			err := clients[i].Wait()
			credential, parseErr := execcredential.ParseAnswer(answers[i].Bytes(), execcredential.V1)
			if err != nil || parseErr != nil || credential.Token().Reveal() != "token of "+execcredential.V1 {
				t.Errorf("plugin = %v, %v, want the token", err, parseErr)
			}
		}
		if got := logins(t, log); got != 1 {
			t.Errorf("logins = %d, want 1", got)
		}
	})
	t.Run("ECR-22 another version is another answer", func(t *testing.T) {
		out, err := plugin(t, "login", execcredential.V1Beta1, "LAB_CACHE="+dir, "LAB_LOG="+log).Output()
		if err != nil || logins(t, log) != 2 {
			t.Errorf("plugin = %s, %v, logins %d, want a second login", out, err, logins(t, log))
		}
	})
	t.Run("ECR-22 ECR-28 the directory and its files are the user's alone", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("access is the ACL's business on Windows")
		}
		_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil {
				t.Fatal(err)
			}
			if stat, err := entry.Info(); err != nil || stat.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, stat.Mode())
			}
			return nil
		})
	})
}

func logins(t *testing.T, log string) int {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

func TestCacheKeeps(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	setup := func(t *testing.T, life time.Duration) (*pluginsdk.Cache, func() int) {
		cache := &pluginsdk.Cache{Dir: filepath.Join(t.TempDir(), "c"), Now: func() time.Time { return now }}
		count := 0
		return cache, func() int {
			t.Helper()
			status, err := cache.Do(t.Context(), "key", func(context.Context) (execcredential.Status, error) {
				count++
				status := execcredential.Status{Token: redact.New("t")}
				if life != 0 {
					expires := now.Add(life)
					status.ExpirationTimestamp = &expires
				}
				return status, nil
			})
			if err != nil || status.Token.Reveal() != "t" {
				t.Fatalf("Do = %v, %v", status, err)
			}
			return count
		}
	}
	for _, c := range []struct {
		name string
		life time.Duration
		want int
	}{
		{"an answer with enough life left is given again", time.Hour, 1},
		{"one within the margin is not", pluginsdk.DefaultMargin, 2},
		{"one just beyond it is", pluginsdk.DefaultMargin + time.Second, 1},
		{"one without an expiry is not kept", 0, 2},
	} {
		t.Run("ECR-22 "+c.name, func(t *testing.T) {
			_, do := setup(t, c.life)
			do()
			if got := do(); got != c.want {
				t.Errorf("logins = %d, want %d", got, c.want)
			}
		})
	}
	t.Run("ECR-22 an answer that is forgotten is not given again, and forgetting nothing is no error", func(t *testing.T) {
		cache, do := setup(t, time.Hour)
		do()
		if err := errors.Join(cache.Forget("key"), cache.Forget("key")); err != nil {
			t.Fatal(err)
		}
		if got := do(); got != 2 {
			t.Errorf("logins = %d, want 2", got)
		}
	})
	for name, spoil := range map[string]func(path string) error{
		"damaged":        func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"open to others": func(path string) error { return os.Chmod(path, 0o644) },
		"too large":      func(path string) error { return os.Truncate(path, 1<<20+1) },
	} {
		t.Run("ECR-22 a file that is "+name+" counts as absent", func(t *testing.T) {
			if name == "open to others" && runtime.GOOS == "windows" {
				t.Skip("access is the ACL's business on Windows")
			}
			cache, do := setup(t, time.Hour)
			do()
			entries, err := os.ReadDir(cache.Dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				if !strings.HasSuffix(entry.Name(), ".lock") {
					if err := spoil(filepath.Join(cache.Dir, entry.Name())); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := do(); got != 2 {
				t.Errorf("logins = %d, want 2", got)
			}
		})
	}
	t.Run("ECR-22 a directory that is open to others is refused", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("access is the ACL's business on Windows")
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := (&pluginsdk.Cache{Dir: dir}).Do(t.Context(), "k", nil)
		if !errors.Is(err, pluginsdk.ErrCacheDir) {
			t.Errorf("Do = %v, want ErrCacheDir", err)
		}
	})
	t.Run("ECR-22 a context that ends ends the wait for the lock", func(t *testing.T) {
		cache, _ := setup(t, time.Hour)
		held, release := make(chan struct{}), make(chan struct{})
		done := make(chan error, 1)
		go func() {
			_, err := cache.Do(context.Background(), "key", func(context.Context) (execcredential.Status, error) {
				close(held)
				<-release
				return execcredential.Status{}, io.EOF
			})
			done <- err
		}()
		<-held
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := cache.Do(ctx, "key", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do = %v, want the deadline", err)
		}
		close(release)
		if err := <-done; !errors.Is(err, io.EOF) {
			t.Errorf("Do of the holder = %v, want its login's error", err)
		}
	})
}

func ExampleRun() {
	request, _ := execcredential.Info(execcredential.ExecConfig{APIVersion: execcredential.V1}, nil, false)
	err := pluginsdk.Run(context.Background(), request, os.Stdout, func(context.Context, pluginsdk.Request) (execcredential.Status, error) {
		return execcredential.Status{Token: redact.New("t0p")}, nil
	}, pluginsdk.Options{})
	if err != nil {
		fmt.Println(err)
	}
	// Output: {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false},"status":{"token":"t0p"}}
}
