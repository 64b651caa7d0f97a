//go:build unix

package pluginexec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

// patience bounds what a test waits for; nothing takes this long unless it hangs.
const patience = 20 * time.Second

func TestRunPassesEverythingOn(t *testing.T) {
	t.Run("arguments verbatim, environment whole, standard input to its end", func(t *testing.T) {
		got, err := pluginexec.Run(t.Context(), pluginexec.Command{
			Path:  script(t, `printf '%s|' "$@"; printf '%s|' "$A" "${HOME-unset}"; cat`),
			Args:  redact.Texts("$HOME", "a b", "*"),
			Env:   redact.Texts("A=1", "A=2"),
			Stdin: redact.NewBytes([]byte("input")),
		})
		if want := "$HOME|a b|*|2|unset|input"; err != nil || string(got.Stdout.Reveal()) != want {
			t.Errorf("Run = %q, %v, want %q", got.Stdout.Reveal(), err, want)
		}
	})
	t.Run("standard input of any size is whole", func(t *testing.T) {
		for _, size := range []int{0, 1, 4096, 4097, 1 << 20} {
			input := strings.Repeat("x", size)
			got, err := pluginexec.Run(t.Context(), pluginexec.Command{Path: script(t, `cat`), Env: redact.Texts(os.Environ()...), Stdin: redact.NewBytes([]byte(input))})
			if err != nil || string(got.Stdout.Reveal()) != input {
				t.Errorf("Run with %d bytes of input = %d bytes, %v", size, len(got.Stdout.Reveal()), err)
			}
		}
	})
	t.Run("without standard input the process reads end of file", func(t *testing.T) {
		got, err := pluginexec.Run(t.Context(), pluginexec.Command{Path: script(t, `cat; echo done`)})
		if err != nil || string(got.Stdout.Reveal()) != "done\n" {
			t.Errorf("Run = %q, %v, want done", got.Stdout.Reveal(), err)
		}
	})
	t.Run("an inherited file is standard input", func(t *testing.T) {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		write(t, file.Name(), "from a file", 0o600)
		defer file.Close()
		got, err := pluginexec.Run(t.Context(), pluginexec.Command{Path: script(t, `cat`), Env: redact.Texts(os.Environ()...), Terminal: file})
		if err != nil || string(got.Stdout.Reveal()) != "from a file" {
			t.Errorf("Run = %q, %v, want the file's text", got.Stdout.Reveal(), err)
		}
	})
	t.Run("a process that does not read its input is not an error", func(t *testing.T) {
		_, err := pluginexec.Run(t.Context(), pluginexec.Command{Path: script(t, `exit 0`), Stdin: redact.NewBytes(make([]byte, 1<<20))})
		if err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
	})
	t.Run("standard error is copied to the writer and its tail kept", func(t *testing.T) {
		var live bytes.Buffer
		got, err := pluginexec.Run(t.Context(), pluginexec.Command{
			Path: script(t, `head -c 10000 /dev/zero | tr '\0' x >&2; echo end >&2`), Env: redact.Texts(os.Environ()...), Stderr: &live,
		})
		if err != nil || live.Len() != 10004 || len(got.Stderr.Reveal()) != pluginexec.MaxStderr || !strings.HasSuffix(string(got.Stderr.Reveal()), "xend\n") {
			t.Errorf("Run: %d bytes live, %d kept, %v; want 10004 and %d", live.Len(), len(got.Stderr.Reveal()), err, pluginexec.MaxStderr)
		}
	})
}

func TestRunEnds(t *testing.T) {
	t.Run("exit code and standard error are fields", func(t *testing.T) {
		_, err := pluginexec.Run(t.Context(), pluginexec.Command{Path: script(t, `echo why >&2; echo out; exit 7`)})
		var exit *pluginexec.ExitError
		if !errors.As(err, &exit) || exit.Code != 7 || exit.Signal != 0 || string(exit.Stderr.Reveal()) != "why\n" {
			t.Errorf("Run = %#v, want exit code 7", err)
		}
	})
	t.Run("a signal is a field, and the code is -1", func(t *testing.T) {
		_, err := pluginexec.Run(t.Context(), pluginexec.Command{Path: script(t, `kill -TERM $$`)})
		var exit *pluginexec.ExitError
		if !errors.As(err, &exit) || exit.Code != -1 || exit.Signal != syscall.SIGTERM {
			t.Errorf("Run = %#v, want signal 15", err)
		}
	})
	t.Run("ECR-25 output at the limit is kept, one byte more is a typed error", func(t *testing.T) {
		at := pluginexec.Command{Path: script(t, `printf 12345678`), MaxStdout: 8}
		if got, err := pluginexec.Run(t.Context(), at); err != nil || string(got.Stdout.Reveal()) != "12345678" {
			t.Errorf("Run = %q, %v, want eight bytes", got.Stdout.Reveal(), err)
		}
		over := at
		over.MaxStdout = 7
		_, err := pluginexec.Run(t.Context(), over)
		var large *pluginexec.OutputTooLargeError
		if !errors.As(err, &large) || large.Limit != 7 {
			t.Errorf("Run = %v, want *OutputTooLargeError with limit 7", err)
		}
	})
	t.Run("ECR-25 a flood ends the run at once and uses no more than the limit", func(t *testing.T) {
		_, err := within(t, pluginexec.Command{Path: script(t, `exec cat /dev/zero`), Env: redact.Texts(os.Environ()...)})
		var large *pluginexec.OutputTooLargeError
		if !errors.As(err, &large) || large.Limit != pluginexec.DefaultMaxStdout {
			t.Errorf("Run = %v, want *OutputTooLargeError with the default limit", err)
		}
	})
	t.Run("an environment that the kernel refuses is ErrTooLarge", func(t *testing.T) {
		_, err := pluginexec.Run(t.Context(), pluginexec.Command{Path: script(t, ``), Env: redact.Texts("A=" + strings.Repeat("x", 8<<20))})
		if !errors.Is(err, pluginexec.ErrTooLarge) {
			t.Errorf("Run = %.200v, want ErrTooLarge", err)
		}
	})
}

func TestRunIsCutShort(t *testing.T) {
	// The child and a grandchild both hold the pipe and neither reacts to a polite signal.
	const stubborn = `trap '' TERM INT HUP; sleep 1000 & echo $! >&3; echo ready >&2; wait; sleep 1000`
	t.Run("ECR-11 the time limit kills the whole process group", func(t *testing.T) {
		pid, run := tracked(t, stubborn)
		run.Timeout = 300 * time.Millisecond
		_, err := within(t, run)
		var timeout *pluginexec.TimeoutError
		if !errors.As(err, &timeout) || timeout.Limit != run.Timeout {
			t.Errorf("Run = %v, want *TimeoutError", err)
		}
		mustDie(t, pid())
	})
	t.Run("ECR-10 the end of the context kills the whole process group and its cause is the error", func(t *testing.T) {
		pid, run := tracked(t, stubborn)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("nobody waits")
		run.Stderr = writerFunc(func() { cancel(cause) })
		_, err := pluginexec.Run(ctx, run)
		var cancelled *pluginexec.CancelledError
		if !errors.As(err, &cancelled) || !errors.Is(err, cause) {
			t.Errorf("Run = %v, want *CancelledError with the cause", err)
		}
		mustDie(t, pid())
	})
	t.Run("a context that has ended starts nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := pluginexec.Run(ctx, pluginexec.Command{Path: "/nonexistent"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want context.Canceled", err)
		}
	})
	t.Run("a grandchild that keeps standard output does not hold the caller", func(t *testing.T) {
		pid, run := tracked(t, `sleep 1000 & echo $! >&3; echo answer`)
		got, err := within(t, run)
		if err != nil || string(got.Stdout.Reveal()) != "answer\n" {
			t.Errorf("Run = %q, %v, want answer", got.Stdout.Reveal(), err)
		}
		if err := syscall.Kill(pid(), syscall.SIGKILL); err != nil {
			t.Errorf("the grandchild of a run that ended well was killed: %v", err)
		}
	})
}

func TestRunErrorsHoldNoSecret(t *testing.T) {
	plugins := map[string]string{
		"exit code": `echo "$TOKEN" >&2; echo "$TOKEN"; exit 1`,
		"signal":    `echo "$TOKEN" >&2; kill -9 $$`,
		"flood":     `echo "$TOKEN" >&2; while :; do echo "$TOKEN"; done`,
		"hang":      `echo "$TOKEN" >&2; exec sleep 1000`,
		"success":   `echo "$TOKEN" >&2; echo "$TOKEN"`,
	}
	for name, body := range plugins {
		t.Run("ECR-28 "+name, func(t *testing.T) {
			result, err := within(t, pluginexec.Command{
				Path: script(t, body), Args: redact.Texts(sesame), Env: redact.Texts(append(os.Environ(), "TOKEN="+sesame)...),
				Stdin: redact.NewBytes([]byte(sesame)), Timeout: 300 * time.Millisecond, MaxStdout: 1 << 10,
			})
			mustNotShow(t, err)
			mustNotShow(t, result)
		})
	}
}

type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) { f(); return len(p), nil }

// tracked returns a command and a function that waits for the process id which the script writes to descriptor 3.
func tracked(t *testing.T, body string) (func() int, pluginexec.Command) {
	t.Helper()
	path := t.TempDir() + "/pid"
	pid := func() int {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return pid, pluginexec.Command{Path: script(t, "exec 3>"+path+"\n"+body), Env: redact.Texts(os.Environ()...)}
}

// within runs the command and fails the test when it hangs.
func within(t *testing.T, command pluginexec.Command) (pluginexec.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := pluginexec.Run(ctx, command)
	if ctx.Err() != nil {
		t.Fatalf("Run did not return within %v", patience)
	}
	return result, err
}

// mustDie waits until the process is gone or a zombie that nobody has reaped yet.
func mustDie(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("process %d is alive", pid)
}
