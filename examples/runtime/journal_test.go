package runtime_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// TestJournal reads what the runtime wrote about its exec sessions.
func TestJournal(t *testing.T) {
	n := serve(t, newConfig(t))
	c := startSleeper(t, n.Node)
	path := filepath.Join(n.config.Root, "exec-journal.jsonl")
	of := func(id string) (out []journal.Record) {
		for _, r := range readJournal(t, path) {
			if r.AuditID == id {
				out = append(out, r)
			}
		}
		return out
	}
	t.Run("ATT-11 intent, start and end, in this order, with who and what and without values", func(t *testing.T) {
		env := append(auditID("one"), envprecedence.NewEntry("SECRET", "do-not-write-this"))
		c.MustExec(t, &runtimetest.Session{Cmd: cmd("print", "x", "", "7"), Env: env})
		got := of("one")
		if len(got) != 3 {
			t.Fatalf("records when the client has its answer = %+v, want three", got)
		}
		if kinds := []journal.Kind{got[0].Kind, got[1].Kind, got[2].Kind}; !slices.Equal(kinds, []journal.Kind{journal.KindIntent, journal.KindStart, journal.KindEnd}) {
			t.Fatalf("kinds = %v", kinds)
		}
		if got[0].ContainerID != c.ID || got[0].SandboxID != c.Pod.ID || got[0].Pod != c.Pod.Config.GetMetadata().GetName() || !slices.Equal(got[0].Argv, cmd("print", "x", "", "7")) {
			t.Errorf("intent = %+v", got[0])
		}
		if got[1].PID == 0 || got[1].StartTicks == 0 || got[1].BootID == "" {
			t.Errorf("start = %+v, want a process", got[1])
		}
		if got[2].ExitCode == nil || *got[2].ExitCode != 7 || got[2].PID != got[1].PID {
			t.Errorf("end = %+v, want exit code 7 of the same process", got[2])
		}
		b, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(b), "do-not-write-this") {
			t.Errorf("the journal holds a value, or %v", err)
		}
	})
	t.Run("ATT-11 the intent is there before the process runs, the start while it runs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(runtimetest.Context(t))
		defer cancel()
		shown, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- c.Exec(ctx, &runtimetest.Session{Cmd: cmd("ignore"), Env: auditID("two"), Stdout: out})
		}()
		awaitText(t, shown, "ignoring\n")
		if got := of("two"); len(got) != 2 || got[1].Kind != journal.KindStart {
			t.Errorf("records while it runs = %+v, want intent and start", got)
		}
		cancel()
		<-done
		runtimetest.Eventually(t, "the session has an end", func() bool { return len(of("two")) == 3 })
		if got := of("two")[2]; got.ExitCode != nil || got.Reason == "" {
			t.Errorf("end = %+v, want a reason and no exit code", got)
		}
	})
	t.Run("EXA-39 each session has the kernel's own mark, where the low-level runtime sets one", func(t *testing.T) {
		config := newConfig(t)
		wrapper := filepath.Join(newDir(t), "runc")
		script := "#!/bin/sh\necho 4711 >/proc/self/loginuid\nexec " + config.Runc + " \"$@\"\n"
		if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		config.Runc = wrapper
		c := startSleeper(t, serve(t, config).Node)
		marks := map[uint32]bool{}
		for range 2 {
			c.MustExec(t, &runtimetest.Session{Cmd: cmd("print", "x", "", "0"), Env: auditID("marked")})
		}
		for _, r := range readJournal(t, filepath.Join(config.Root, "exec-journal.jsonl")) {
			if r.Kind == journal.KindStart {
				if r.SessionID == 0 {
					t.Skip("the kernel lets the low-level runtime set no login UID")
				}
				if marks[r.SessionID] {
					t.Errorf("two sessions have the mark %d", r.SessionID)
				}
				marks[r.SessionID] = true
			}
			if r.Kind == journal.KindEnd && !marks[r.SessionID] {
				t.Errorf("the end of a session has the mark %d, none of %v", r.SessionID, marks)
			}
		}
		if got := of("one")[1].SessionID; marks[got] {
			t.Errorf("a process that nobody marked has the mark %d of another", got)
		}
	})
	t.Run("ATT-11 a process that never came to be has an end that says so", func(t *testing.T) {
		_ = c.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: []string{"/nowhere"}, Env: auditID("three")})
		runtimetest.Eventually(t, "the session has an end", func() bool { return len(of("three")) == 2 })
		if got := of("three")[1]; got.Kind != journal.KindEnd || got.PID != 0 || !strings.Contains(got.Reason, "/nowhere") {
			t.Errorf("end = %+v", got)
		}
	})
	t.Run("EXA-39 a second runtime does not write into the same journal", func(t *testing.T) {
		second := newConfig(t)
		second.Journal = path
		r, err := start(second)
		if err == nil {
			err = r.end()
			t.Errorf("it started, and ended with %v", err)
		} else if !errors.Is(err, journal.ErrInUse) {
			t.Errorf("start = %v, want %v", err, journal.ErrInUse)
		}
		c.MustExec(t, &runtimetest.Session{Cmd: cmd("print", "x", "", "0"), Env: auditID("beside")})
		if got := of("beside"); len(got) != 3 {
			t.Errorf("records of the first runtime's session = %+v, want three", got)
		}
	})
	t.Run("EXA-39 a line that a crash left unfinished is logged at start, without its text", func(t *testing.T) {
		config := newConfig(t)
		config.Journal = filepath.Join(newDir(t), "journal")
		if err := os.WriteFile(config.Journal, []byte(`{"version":1,"kind":"intent","argv":["hunter2`), 0o600); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		config.Logger = slog.New(slog.NewTextHandler(&log, nil))
		r, err := start(config)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "journal:1: not a journal record") || strings.Contains(log.String(), "hunter2") {
			t.Errorf("log = %s", log.String())
		}
	})
	t.Run("EXA-39 a runtime does not start with a journal that others could have, and leaves it as it was", func(t *testing.T) {
		config := newConfig(t)
		target := filepath.Join(newDir(t), "target")
		if err := os.WriteFile(target, []byte("of somebody else"), 0o644); err != nil {
			t.Fatal(err)
		}
		config.Journal = filepath.Join(newDir(t), "journal")
		if err := os.Symlink(target, config.Journal); err != nil {
			t.Fatal(err)
		}
		if _, err := start(config); !errors.Is(err, journal.ErrNotRegular) {
			t.Errorf("start = %v, want %v", err, journal.ErrNotRegular)
		}
		if b, err := os.ReadFile(target); err != nil || string(b) != "of somebody else" {
			t.Errorf("the file holds %q, %v", b, err)
		}
	})
	t.Run("ATT-11 what cannot be recorded is not started", func(t *testing.T) {
		config := newConfig(t)
		dir := newDir(t)
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		config.Journal = filepath.Join(dir, "journal")
		n := serve(t, config)
		host := t.TempDir()
		c := startSleeper(t, n.Node, func(c *runtimeapi.ContainerConfig) {
			c.Mounts = []*runtimeapi.Mount{{ContainerPath: "/host", HostPath: host}}
		})
		// The disk is full now.
		_ = os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600)
		err := c.Exec(runtimetest.Context(t), &runtimetest.Session{Cmd: cmd("write", "/host/ran", "x")})
		if err == nil {
			t.Error("exec succeeded without a record")
		}
		if _, err := os.Stat(filepath.Join(host, "ran")); err == nil {
			t.Error("the process ran")
		}
		config = newConfig(t)
		config.Journal = "/dev/full"
		if _, err := start(config); err == nil {
			t.Error("a runtime started with a journal that keeps nothing")
		}
	})
}
