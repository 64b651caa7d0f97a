package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/status"
)

func TestText(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	gap := now.Add(-time.Minute)
	s := board.Status{
		Node: "n1", Version: "v0.1.0", Started: now.Add(-time.Hour), Mode: board.ModeEBPF, Pinned: true, Sessions: 2, Processes: 5,
		Events: map[string]uint64{"fork": 10, "exec": 20, "exit": 5}, Runtime: 6, RingBytes: 8 << 20, Notices: map[string]uint64{"forged": 1},
		Journal: "/var/lib/lanyard/journal/sessions.jsonl", Output: "-", Capabilities: []string{},
	}
	t.Run("AGT-6 an agent that is well says so", func(t *testing.T) {
		want := strings.TrimPrefix(`
node          n1
agent         v0.1.0, since 2026-11-22 11:00:00 UTC
sees by       ebpf, pinned: a restart leaves no gap
sessions      2, with 5 processes
events        10 fork, 20 exec, 5 exit; 6 of them the runtime's own
held          0, which wait for their session's record
lost          none
marks         1 forged, 0 left, 0 of two sessions
buffer        8192 KiB in the kernel
journal       /var/lib/lanyard/journal/sessions.jsonl
output        -; 0 KiB wait for it
capabilities  none
well          yes
`, "\n")
		if got := status.Text(&s, now); got != want {
			t.Errorf("Text(…) =\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("AGT-2 AGT-4 what is wrong is told at the end, and nothing in it moves the cursor", func(t *testing.T) {
		bad := s
		bad.Mode, bad.Notices, bad.LastGap, bad.Lost = board.ModeConnector, map[string]uint64{"lost": 2}, &gap, map[string]uint64{"full": 3, "restart": 0}
		bad.JournalError = "no\x1b[2J"
		got := status.Text(&bad, now)
		for _, want := range []string{
			"lost          3 (full), 0 (restart); told 2 times", "! ", "does not see by eBPF", "lost in the last", `no\x1b[2J`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("it lacks %q:\n%s", want, got)
			}
		}
		if strings.Contains(got, "well ") || strings.Contains(got, "\x1b") {
			t.Errorf("%q", got)
		}
	})
}
