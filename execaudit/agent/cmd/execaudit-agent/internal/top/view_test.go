package top

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func sample() board.Snapshot {
	gap := noon.Add(-time.Minute)
	return board.Snapshot{
		Time: noon,
		Status: board.Status{
			Node: "n1", Mode: board.ModeEBPF, Sessions: 3, Processes: 7, Notices: map[string]uint64{"forged": 1}, Held: 2, LastGap: &gap,
			Events: map[string]uint64{"fork": 10, "exec": 20, "exit": 5}, Lost: map[string]uint64{"full": 4},
		},
		Sessions: []board.Session{
			{
				SessionID: 3815, ExecSession: "9032ec99-0000-4000-8000-000000000000", Known: true, Namespace: "shop", Pod: "cart-0", Container: "app",
				Since: noon.Add(-90 * time.Minute), Processes: 5, Command: "sh -c 'sleep 5'", PID: 13527, Last: noon.Add(-3 * time.Second),
			},
			{SessionID: 3816, Known: true, ContainerID: "c0ffeec0ffee", Since: noon.Add(-2 * time.Second), Processes: 1, Command: "id", PID: 13652, Last: noon.Add(-2 * time.Second)},
			{SessionID: 3817, Since: noon.Add(-50 * time.Hour), Processes: 1, Command: "\x1b[2Jevil\u202e\n", PID: 13660, Last: noon.Add(-50 * time.Hour)},
		},
	}
}

func TestDraw(t *testing.T) {
	layout := Layout{Width: 120, Order: OrderNewest, Users: map[string]string{"9032ec99-0000-4000-8000-000000000000": "alice"}}
	t.Run("AGT-6 sessions, their pods, users and newest commands", func(t *testing.T) {
		want := strings.Split(strings.TrimPrefix(`
execaudit-agent  n1  ebpf  2026-11-22 12:00:00 UTC
3 sessions, 7 processes, 35 events (4 lost, 2 held), marks: 1 forged, 0 left
! events were lost in the last 10m0s

SESSION   USER              POD                             AGE      PROCS  PID       LAST    NEWEST COMMAND
3816      -                 c0ffeec0ffee                    2s       1      13652     2s      id
9032ec99  alice             shop/cart-0                     1h30m    5      13527     3s      sh -c 'sleep 5'
forged?   -                 -                               2d       1      13660     2d      \x1b[2Jevil\u202e\n`, "\n"), "\n")
		got := Draw(sample(), layout)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("Draw(…) =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("AGT-6 a small terminal has what matters most", func(t *testing.T) {
		small := layout
		small.Width, small.Height = 40, 7
		got := Draw(sample(), small)
		if len(got) != 7 || !strings.HasPrefix(got[4], "SESSION   POD") || got[6] != "2 more sessions" {
			t.Errorf("%q", got)
		}
	})
	for order, first := range map[Order]string{OrderNewest: "3816", OrderSince: "3816", OrderProcesses: "9032ec99", OrderPod: "3816"} {
		t.Run("AGT-6 sorted by "+string(order), func(t *testing.T) {
			by := layout
			by.Order = order
			if got := Draw(sample(), by)[5]; !strings.HasPrefix(got, first) {
				t.Errorf("first is %q, want %s", got, first)
			}
		})
	}
	for text, want := range map[string]int{"alice": 1, "shop/": 1, "forged": 1, "sleep": 1, "nothing like it": 0, "": 3} {
		t.Run("AGT-6 only those that match: "+text, func(t *testing.T) {
			some := layout
			some.Match = text
			if got := len(Draw(sample(), some)) - 5; got != want {
				t.Errorf("%d sessions, want %d", got, want)
			}
		})
	}
	t.Run("AGT-6 scrolling ends at the end", func(t *testing.T) {
		far := layout
		far.From = 99
		if got := Draw(sample(), far); len(got) != 5 {
			t.Errorf("%q", got)
		}
	})
}

// TestDrawLaw: whatever processes call themselves and however large the terminal is, every line fits, and none has a
// character that a terminal obeys.
func TestDrawLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := sample()
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[日本語\x1b\x00-\x20é]{0,60}`))
		for i := range s.Sessions {
			s.Sessions[i].Command, s.Sessions[i].Pod = text.Draw(rt, "command"), text.Draw(rt, "pod")
		}
		s.Status.Node = text.Draw(rt, "node")
		l := Layout{
			Width: rapid.IntRange(0, 200).Draw(rt, "width"), Height: rapid.IntRange(0, 40).Draw(rt, "height"),
			Order: rapid.SampledFrom(orders).Draw(rt, "order"), From: rapid.IntRange(-2, 5).Draw(rt, "from"),
		}
		got := Draw(s, l)
		if l.Height > 0 && len(got) > l.Height {
			rt.Fatalf("%d lines for %d", len(got), l.Height)
		}
		for _, line := range got {
			if columns(line) > l.Width {
				rt.Fatalf("%q has %d columns, want at most %d", line, columns(line), l.Width)
			}
			for _, r := range line {
				if !strconv.IsPrint(r) {
					rt.Fatalf("%q has %U", line, r)
				}
			}
		}
	})
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", time.Hour: "1h00m", 49 * time.Hour: "2d", 1 << 62: "years",
	} {
		t.Run(fmt.Sprint("AGT-6 ", d), func(t *testing.T) {
			if got := ago(d); got != want || len(got) > 6 {
				t.Errorf("ago(%v) = %q, want %q", d, got, want)
			}
		})
	}
}
