package runtime_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// TestJournalEnds compares the journal's ends with when the processes went.
func TestJournalEnds(t *testing.T) {
	n := serve(t, newConfig(t))
	c := startSleeper(t, n.Node)
	path := filepath.Join(n.config.Root, "exec-journal.jsonl")
	of := func(kind journal.Kind) (last journal.Record) {
		for _, r := range readJournal(t, path) {
			if r.Kind == kind {
				last = r
			}
		}
		return last
	}
	t.Run("ATT-14 the end of a session is when its process was seen to exit, however slow its client is", func(t *testing.T) {
		client := &slow{taken: make(chan struct{}), free: make(chan struct{})}
		done := make(chan error, 1)
		go func() { done <- n.server.ExecInto(runtimetest.Context(t), c.ID, cmd("print", "x", "", "0"), client) }()
		<-client.taken
		start := of(journal.KindStart)
		runtimetest.Eventually(t, "the process is gone", func() bool {
			ticks, err := monitor.StartTime(start.PID)
			return err != nil || ticks != start.StartTicks
		})
		gone := time.Now() // another process may have its PID from now on
		runtimetest.Eventually(t, "the journal has the end", func() bool { return of(journal.KindEnd).Kind != "" })
		close(client.free)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if end := of(journal.KindEnd); end.Time.Before(start.Time) || end.Time.After(gone) || end.ExitCode == nil {
			t.Errorf("end = %+v, want one between %v and %v", end, start.Time, gone)
		}
	})
}

// slow is a client that takes output and then none until it is free.
type slow struct{ taken, free chan struct{} }

func (s *slow) Write(p []byte) (int, error) {
	close(s.taken)
	<-s.free
	return len(p), nil
}

func (s *slow) Close() error { return nil }

func TestJournalMark(t *testing.T) {
	t.Run("ATT-13 a mark that the runtime has itself is no session's", func(t *testing.T) {
		if _, err := exec.LookPath("setpriv"); err != nil {
			t.Skip(err)
		}
		config := newConfig(t)
		// As a runtime that somebody started by hand, who may set no other login UID: everything on the node would have
		// the one login session.
		wrapper := filepath.Join(newDir(t), "monitor")
		script := "#!/bin/sh\necho 4711 >/proc/self/loginuid\n" +
			"exec setpriv --bounding-set -audit_control --inh-caps -audit_control " + config.Monitor + " \"$@\"\n"
		if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		config.Monitor = wrapper
		c := startSleeper(t, serve(t, config).Node)
		for range 2 {
			if r := reported(t, c, &runtimetest.Session{Cmd: cmd(), Env: auditID("inherited")}); r.AuditSession == report.NoSession {
				t.Fatal("the kernel gave the monitor no session")
			}
		}
		for _, r := range readJournal(t, filepath.Join(config.Root, "exec-journal.jsonl")) {
			if r.SessionID != 0 {
				t.Errorf("%s has the mark %d, which all processes of the runtime have", strings.ToLower(string(r.Kind)), r.SessionID)
			}
		}
	})
}
