//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// size is small, or full where LANYARD_SOAK asks for it.
func size(small, full int) int {
	if os.Getenv("LANYARD_SOAK") != "" {
		return full
	}
	return small
}

// daemonProcess is the daemon as a process that can be killed.
func daemonProcess(t testing.TB, o Options) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	must(t, err)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), daemonVariable+"="+string(text))
	c.Stderr = os.Stderr
	must(t, c.Start())
	return c
}

func TestKill(t *testing.T) {
	t.Run("BRG-6 a daemon that is killed at any moment writes each record once, and loses none", func(t *testing.T) {
		kills, each := size(15, 400), 12
		o := options(t)
		o.JournalBytes, o.Rescan = 64<<10, time.Second // rotations are part of it
		key := journal.NewKey()
		o.JournalKey = "/state/key"
		must(t, key.Install(o.host(o.JournalKey)))
		left, refused := 0, 0
		var live []io.Closer // of sessions with a process
		sessions := map[string]bool{}
		for kill := range kills {
			c := daemonProcess(t, o)
			var wait sync.WaitGroup
			wait.Go(func() {
				longest := 60 * time.Millisecond
				if kill%5 == 1 { // so that starts are written, too
					longest *= 5
				}
				awaitKill(o.journalFile(), longest, kill%2 == 0)
				_ = c.Process.Kill()
			})
			for range each {
				r := record(left)
				left++
				sessions[r.Session.String()] = true
				leave(t, o.spoolDir(), r)
				if left%3 == 0 {
					refusal := spool.Refusal{Where: r.Where, Reason: "x", Time: time.Now()}
					if entries, err := os.ReadDir(o.spoolDir()); err == nil && countRefusals(entries) < spool.MaxRefusals {
						must(t, spool.Refuse(o.spoolDir(), refusal))
						refused++
					}
				}
			}
			if kill%5 == 0 {
				r := record(left)
				left++
				sessions[r.Session.String()] = true
				_, in := session(t, o, r, "read x; exit 9")
				live = append(live, in)
			}
			if kill%10 == 8 {
				must(t, live[len(live)-1].Close()) // the process ends
			}
			wait.Wait()
			_ = c.Wait()
		}
		c := daemonProcess(t, o)
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		eventually(t, "every session has an end or goes on", func() bool {
			all := records(t, o.journalFile())
			ended := map[string]bool{}
			for _, r := range append(of(all, journal.KindEnd, ""), of(all, journal.KindStart, "")...) {
				ended[r.ExecSession] = true
			}
			return len(ended) == left
		})
		for _, in := range live {
			_ = in.Close()
		}
		eventually(t, "all is folded", func() bool {
			return waitingIn(t, o.spoolDir()) == 0 && len(of(records(t, o.journalFile()), journal.KindEnd, "")) == left
		})
		must(t, c.Process.Signal(syscall.SIGTERM))
		must(t, c.Wait())
		all := records(t, o.journalFile())
		for _, kind := range []journal.Kind{journal.KindIntent, journal.KindEnd} {
			found := map[string]int{}
			for _, r := range of(all, kind, "") {
				found[r.ExecSession]++
			}
			for id := range sessions {
				if found[id] != 1 {
					t.Errorf("session %s has %d records %s, want 1", id, found[id], kind)
				}
			}
			if len(found) != len(sessions) {
				t.Errorf("%d sessions with %s, want %d", len(found), kind, len(sessions))
			}
		}
		starts := map[string]int{}
		for _, r := range of(all, journal.KindStart, "") {
			if starts[r.ExecSession]++; starts[r.ExecSession] > 1 {
				t.Errorf("session %s has %d starts", r.ExecSession, starts[r.ExecSession])
			}
		}
		times := map[time.Time]int{}
		for _, r := range of(all, journal.KindRefusal, "") {
			times[r.Time]++
		}
		if len(times) != refused || len(of(all, journal.KindRefusal, "")) != refused {
			t.Errorf("%d refusals, %d different, want %d", len(of(all, journal.KindRefusal, "")), len(times), refused)
		}
		files, err := journal.Files(o.journalFile())
		must(t, err)
		report, err := journal.Verify(files, journal.Check{Keys: []journal.Key{key}, KeyFile: o.host(o.JournalKey)})
		if err != nil || report.Err() != nil {
			t.Errorf("the journal: %v, %v", err, report.Err())
		}
		t.Logf("%d kills, %d sessions, %d of %d with a process were seen, %d refusals, %d files", kills, left, len(starts), len(live), refused, len(files))
	})
}

// awaitKill returns at some moment: any, or soon after something was written into the journal.
func awaitKill(path string, longest time.Duration, written bool) {
	wait := rand.N(longest)
	if written {
		size := func() (n int64) {
			if info, err := os.Stat(path); err == nil {
				n = info.Size()
			}
			return n
		}
		seals := rand.Int64N(2000) // what the opening writes
		for before, deadline := size(), time.Now().Add(time.Second); time.Now().Before(deadline) && size() >= before && size() <= before+seals; {
			time.Sleep(20 * time.Microsecond)
		}
		wait /= 30
	}
	time.Sleep(wait)
}

func countRefusals(entries []os.DirEntry) (n int) {
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "refused-") {
			n++
		}
	}
	return n
}

// waitingIn counts what the spool still has for the journal.
func waitingIn(t testing.TB, dir string) (n int) {
	t.Helper()
	for _, err := range spool.Records(dir) {
		must(t, err)
		n++
	}
	for _, err := range spool.Refusals(dir) {
		must(t, err)
		n++
	}
	return n
}

func TestDiskFull(t *testing.T) {
	t.Run("BRG-6 while the journal's disk is full records wait in the spool, and sessions are followed", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root mounts a small disk")
		}
		o := options(t)
		dir := filepath.Join(o.HostRoot, "small")
		must(t, os.Mkdir(dir, 0o700))
		must(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
		t.Cleanup(func() { must(t, unix.Unmount(dir, 0)) })
		o.Journal = "/small/sessions.jsonl"
		path := filepath.Join(dir, "sessions.jsonl")
		status, stop := start(t, o)
		t.Cleanup(stop) // before the unmount
		first := record(0)
		leave(t, o.spoolDir(), first)
		eventually(t, "the first", func() bool { return len(of(records(t, path), journal.KindEnd, first.Session.String())) == 1 })
		filler := filepath.Join(dir, "filler")
		fill(t, filler)
		var all []spool.Record
		for i := range 20 {
			r := record(i + 1)
			all = append(all, r)
			leave(t, o.spoolDir(), r)
		}
		live := record(50)
		c, in := session(t, o, live, "read code; exit $code")
		eventually(t, "the journal's error", func() bool {
			s := status.Status()
			return strings.Contains(s.JournalError, "no space left") && s.Waiting > 1
		})
		fill(t, filler) // what a failed record gave back
		eventually(t, "the session is followed all the same", func() bool { return status.Status().Sessions > 0 })
		fmt.Fprintln(in, 6)
		_ = c.Wait()
		must(t, os.Remove(filler))
		for _, r := range append(all, live) {
			id := r.Session.String()
			eventually(t, "its records", func() bool { return len(of(records(t, path), journal.KindEnd, id)) > 0 })
			found := records(t, path)
			if i, e := len(of(found, journal.KindIntent, id)), len(of(found, journal.KindEnd, id)); i != 1 || e != 1 {
				t.Errorf("%d intents and %d ends, want one of each", i, e)
			}
		}
		if s := status.Status(); s.JournalError != "" || s.Waiting != 0 {
			t.Errorf("status %+v", s)
		}
		if text := metrics(t, status); !strings.Contains(text, `failures_total{what="journal"}`) {
			t.Error(text)
		}
	})
}

// fill writes a file until its file system is full.
func fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	must(t, f.Close())
}
