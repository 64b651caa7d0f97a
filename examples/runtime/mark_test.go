package runtime_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime"
	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// TestMark compares the marks in the journal with those that the processes have.
func TestMark(t *testing.T) {
	n := serve(t, newConfig(t))
	c := startSleeper(t, n.Node)
	path := filepath.Join(n.config.Root, "exec-journal.jsonl")
	if reported(t, c, &runtimetest.Session{Cmd: cmd(), Env: auditID("probe")}).AuditSession == report.NoSession {
		t.Skip("the kernel lets the monitor set no login UID")
	}
	t.Run("AGT-1 ATT-13 each exec has a mark of its own, which its intent has, whatever is run at once", func(t *testing.T) {
		const sessions = 12
		var turn sync.WaitGroup
		reports := make([]report.Report, sessions)
		for i := range sessions {
			turn.Go(func() {
				s := &runtimetest.Session{Cmd: cmd(), Env: auditID(strconv.Itoa(i)), TTY: i%3 == 0}
				reports[i] = reported(t, c, s)
			})
		}
		turn.Wait()
		records, seen := newJournalled(readJournal(t, path)), map[uint32]bool{}
		for i, r := range reports {
			checkMark(t, records.records[strconv.Itoa(i)], r)
			if seen[r.AuditSession] {
				t.Errorf("two sessions have the mark %d", r.AuditSession)
			}
			seen[r.AuditSession] = true
		}
	})
	t.Run("AGT-1 ATT-13 the intent has the mark before anything of the session runs, and so have all its processes", func(t *testing.T) {
		in, keep := io.Pipe()
		shown, out := io.Pipe()
		ctx, cancel := context.WithCancel(runtimetest.Context(t))
		defer cancel()
		done := make(chan error, 1)
		go func() {
			done <- c.Exec(ctx, &runtimetest.Session{Cmd: cmd("tree", "3"), Env: auditID("tree"), Stdin: in, Stdout: out})
		}()
		go func() { _, _ = io.Copy(io.Discard, shown) }()
		marked := func() (n int) {
			for _, r := range readJournal(t, path) {
				if r.AuditID == "tree" && r.Kind == journal.KindIntent {
					n = count(t, r.SessionID)
				}
			}
			return n
		}
		runtimetest.Eventually(t, "four processes have the mark of the intent", func() bool { return marked() == 4 })
		keep.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		runtimetest.Eventually(t, "none has it when they are over", func() bool { return marked() == 0 })
	})
	t.Run("AGT-1 what nobody asked for by the API has no mark, nor has the runtime", func(t *testing.T) {
		got, err := n.ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: cmd()})
		if err != nil {
			t.Fatal(err)
		}
		own, err := report.Self()
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.Parse(got.GetStdout())
		if err != nil || r.AuditSession != own.AuditSession || r.LoginUID != own.LoginUID {
			t.Errorf("it has the mark %d, %d, %v", r.AuditSession, r.LoginUID, err)
		}
		for pid := range processesUnder(t, n.config.Root) {
			if id, err := monitor.SessionID(pid); err == nil && id != own.AuditSession {
				t.Errorf("the monitor %d has the mark %d", pid, id)
			}
		}
	})
	t.Run("AGT-1 a session whose intent cannot be written leaves no marked process", func(t *testing.T) {
		conn, mark, err := runtime.MarkBy(filepath.Join(n.config.Root, "containers", c.ID), agent.MaxLoginUID)
		if err != nil || mark.LoginUID != agent.MaxLoginUID || mark.SessionID == 0 {
			t.Fatalf("mark = %+v, %v", mark, err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		runtimetest.Eventually(t, "no thread has the mark", func() bool { return count(t, mark.SessionID) == 0 })
	})
}

// checkMark checks the records of a session whose process said this.
func checkMark(t *testing.T, records []journal.Record, r report.Report) {
	t.Helper()
	if len(records) != 3 || r.LoginUID < agent.MinLoginUID || r.LoginUID > agent.MaxLoginUID {
		id, _ := r.Get(execaudit.AuditIDName)
		t.Errorf("%s has the login UID %d, and the records %+v", id, r.LoginUID, records)
		return
	}
	for _, record := range records {
		if record.SessionID != r.AuditSession || record.LoginUID != r.LoginUID || record.BootID == "" {
			t.Errorf("%s has %d, %d of boot %q, the process %d, %d",
				record.Kind, record.SessionID, record.LoginUID, record.BootID, r.AuditSession, r.LoginUID)
		}
	}
}

// count returns how many threads have the session ID.
func count(t *testing.T, id uint32) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/sessionid")
	if err != nil {
		t.Fatal(err)
	}
	processes := map[string]bool{}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(int(id)) {
			processes[strings.Split(file, "/")[2]] = true
		}
	}
	return len(processes)
}

// processesUnder returns the monitors of a runtime, by PID.
func processesUnder(t *testing.T, root string) map[int]bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		pid, bad := strconv.Atoi(strings.Split(file, "/")[2])
		if err == nil && bad == nil && strings.Contains(string(text), "lanyard-monitor\x00"+root) {
			found[pid] = true
		}
	}
	if len(found) == 0 {
		t.Error("no monitor runs")
	}
	return found
}

// TestUnmarked has monitors that give no mark.
func TestUnmarked(t *testing.T) {
	t.Run("AGT-1 a monitor of a runtime that knew no marks starts the session without", func(t *testing.T) {
		dir := newDir(t)
		l, err := monitor.Listen(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		second := make(chan error)
		go func() {
			first, err := l.AcceptUnix()
			if err != nil {
				second <- err
				return
			}
			old := monitor.NewConn(first)
			_, _ = old.Receive(&monitor.Request{})
			_ = old.Send(monitor.Reply{Error: "unknown operation"})
			_ = old.Close()
			again, err := l.AcceptUnix()
			if err == nil {
				defer again.Close()
			}
			second <- err
		}()
		conn, mark, err := runtime.MarkBy(dir, agent.MinLoginUID)
		if err != nil || mark != (monitor.Mark{}) {
			t.Fatalf("mark = %+v, %v, want none", mark, err)
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("AGT-1 a session's login UID is of the agent's range, and always the same", func(t *testing.T) {
		seen := map[uint32]bool{}
		for i := range 1000 {
			id := strconv.Itoa(i)
			got := runtime.LoginUID(id)
			if got < agent.MinLoginUID || got > agent.MaxLoginUID || got != runtime.LoginUID(id) {
				t.Fatalf("LoginUID(%q) = %d", id, got)
			}
			seen[got] = true
		}
		if len(seen) < 999 {
			t.Errorf("%d login UIDs of 1000 sessions", len(seen))
		}
	})
}
