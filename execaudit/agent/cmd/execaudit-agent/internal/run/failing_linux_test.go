package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// busy is a session of many programs.
const busy = "i=0; while [ $i -lt 300 ]; do ls /nonexistent 2>/dev/null; i=$((i+1)); done; :"

func TestFailing(t *testing.T) {
	t.Run("AGT-7 AGT-2 an agent that stands still holds nothing up, and what found no room is told when it goes on", func(t *testing.T) {
		n := newNode(t)
		a := n.start(t, "--mode=ebpf", "--ring-bytes=4096")
		if err := a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		id := n.session(t, busy) // to its end
		if err := a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		until(t, "notice of what is lost", func() bool { return slices.Contains(n.notices(t), "lost") })
		if code := a.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		told, lost := 0, 0
		for _, line := range n.lines(t) {
			if line["sessionID"] == float64(id) && line["event"] != nil {
				told++
			}
			if count, is := line["count"].(float64); is && line["notice"] == "lost" {
				lost += int(count)
			}
		}
		// A fork, an exec and an exit for each, and those of the shell and of what stands before it.
		if told+lost < 3*300 || told == 0 || lost == 0 {
			t.Errorf("%d told and %d lost", told, lost)
		}
	})
	t.Run("AGT-6 AGT-2 a full disk is told by status, and in the stream when there is room again", func(t *testing.T) {
		n := newNode(t)
		dir := n.path("out")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("events", dir, "tmpfs", 0, "size=4m"); err != nil {
			t.Skip("no file system of its own:", err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		file := filepath.Join(dir, "events.jsonl")
		if err := os.Symlink(file, n.path("events.jsonl")); err != nil {
			t.Fatal(err)
		}
		ballast := filepath.Join(dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 4<<20-32<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		a := n.start(t, "--mode=ebpf", "--output="+file, "--output-mib=0")
		n.session(t, busy)
		until(t, "word of it in status", func() bool {
			out, code := n.call(t, "status")
			return code == 1 && strings.Contains(out, "events cannot be written")
		})
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		var last uint32
		until(t, "notice of what is lost", func() bool {
			last = n.session(t, ":")
			return slices.Contains(n.notices(t), "lost")
		})
		if code := a.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		if len(n.ran(t, last)) == 0 {
			t.Errorf("session %d, after it, is not there", last)
		}
	})
}
