package board_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// event is one of a process of session 7, a second after the one before by its start.
func event(kind attribution.Kind, pid int, command string) *agent.Event {
	return &agent.Event{Event: attribution.Event{
		Kind: kind, Time: noon.Add(time.Duration(pid) * time.Second), SessionID: 7, LoginUID: agent.MinLoginUID + 7,
		Process: attribution.Process{PID: pid, StartTicks: uint64(1000 + pid), BootID: "boot"}, ContainerID: "c0ffee", Command: command,
	}}
}

func write(t testing.TB, b *board.Board, events ...*agent.Event) {
	t.Helper()
	if err := b.Write(events, nil); err != nil {
		t.Fatal(err)
	}
}

func TestSessions(t *testing.T) {
	t.Run("AGT-3 a session is there from its first process to the end of its last", func(t *testing.T) {
		b := board.New(board.Options{})
		write(t, b, event(attribution.KindExec, 1, "sh"), event(attribution.KindFork, 2, "sh"), event(attribution.KindExec, 2, "sleep 5"))
		all := b.Snapshot().Sessions
		if len(all) != 1 || all[0].Processes != 2 || all[0].Command != "sleep 5" || all[0].PID != 2 || all[0].Executed != 2 || all[0].Since != noon.Add(time.Second) {
			t.Fatalf("%+v", all)
		}
		write(t, b, event(attribution.KindExit, 1, ""))
		if s := b.Status(); s.Sessions != 1 || s.Processes != 1 || s.Events["exec"] != 2 || s.Events["exit"] != 1 {
			t.Fatalf("%+v", s)
		}
		write(t, b, event(attribution.KindExit, 2, ""))
		if s := b.Status(); s.Sessions != 0 || s.Processes != 0 {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("AGT-3 the record may come after the first events", func(t *testing.T) {
		b := board.New(board.Options{})
		write(t, b, event(attribution.KindExec, 1, "sh"))
		if s := b.Snapshot().Sessions[0]; s.Known || s.ContainerID != "c0ffee" {
			t.Fatalf("%+v", s)
		}
		late := event(attribution.KindFork, 2, "sh")
		late.Session = &journal.Session{ExecSession: "e1", Namespace: "shop", Pod: "cart", Container: "app", ContainerID: "c0ffee"}
		write(t, b, late)
		if s := b.Snapshot().Sessions[0]; !s.Known || s.ExecSession != "e1" || s.Pod != "cart" {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("AGT-1 the runtime's own processes are counted, and are not the session's", func(t *testing.T) {
		b := board.New(board.Options{})
		own := event(attribution.KindExec, 1, "runc init")
		own.Role = agent.RoleRuntime
		write(t, b, own)
		if s := b.Status(); s.Sessions != 0 || s.Runtime != 1 || s.Events["exec"] != 1 {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("AGT-1 the exit of another process of the number ends nothing", func(t *testing.T) {
		b := board.New(board.Options{})
		write(t, b, event(attribution.KindExec, 1, "sh"))
		other := event(attribution.KindExit, 1, "")
		other.Process.StartTicks = 5
		write(t, b, other)
		if s := b.Status(); s.Sessions != 1 {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("AGT-2 after a loss, processes that are gone are found", func(t *testing.T) {
		b := board.New(board.Options{Alive: func(p attribution.Process) bool { return p.PID == 2 }})
		write(t, b, event(attribution.KindExec, 1, "sh"), event(attribution.KindFork, 2, ""))
		if s := b.Status(); s.Processes != 2 {
			t.Fatalf("%+v", s)
		}
		if err := b.Write(nil, []*agent.Notice{{Kind: agent.NoticeLost, Time: noon, Count: 3, Reason: "full"}}); err != nil {
			t.Fatal(err)
		}
		if s := b.Status(); s.Processes != 1 || s.Lost["full"] != 3 || s.Gaps != 1 {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("AGT-1 sessions and processes are bounded, and what there is no room for is told", func(t *testing.T) {
		b := board.New(board.Options{MaxSessions: 2, MaxProcesses: 3})
		for i := range 5 {
			for pid := range 2 {
				e := event(attribution.KindExec, 10*i+pid+1, "x")
				e.Event.SessionID = uint32(i + 1)
				write(t, b, e)
			}
		}
		if s := b.Snapshot(); len(s.Sessions) != 2 || s.Unlisted != 7 || s.Status.Processes != 3 {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("AGT-1 a long command is cut between characters", func(t *testing.T) {
		b := board.New(board.Options{})
		write(t, b, event(attribution.KindExec, 1, "x"+strings.Repeat("é", 1000)))
		if got := b.Snapshot().Sessions[0].Command; len(got) != 511 || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	})
}

// TestBoardLaw: whatever happens to which processes, the board has those that a plain list of them has.
func TestBoardLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := board.New(board.Options{})
		type process struct {
			session uint32
			pid     int
		}
		var alive []process
		for range rapid.IntRange(0, 60).Draw(rt, "events") {
			p := process{uint32(rapid.IntRange(1, 4).Draw(rt, "session")), 0}
			p.pid = int(p.session)*100 + rapid.IntRange(0, 5).Draw(rt, "pid")
			kind := rapid.SampledFrom([]attribution.Kind{attribution.KindFork, attribution.KindExec, attribution.KindExit}).Draw(rt, "kind")
			alive = slices.DeleteFunc(alive, func(other process) bool { return other == p })
			if kind != attribution.KindExit {
				alive = append(alive, p)
			}
			e := event(kind, p.pid, "x")
			e.Event.SessionID = p.session
			write(t, b, e)
		}
		got := b.Snapshot()
		want := map[uint32]int{}
		for _, p := range alive {
			want[p.session]++
		}
		if len(got.Sessions) != len(want) || got.Status.Processes != len(alive) {
			rt.Fatalf("%d sessions and %d processes, want %d and %d", len(got.Sessions), got.Status.Processes, len(want), len(alive))
		}
		for _, s := range got.Sessions {
			if s.Processes != want[s.SessionID] {
				rt.Fatalf("session %d has %d processes, want %d", s.SessionID, s.Processes, want[s.SessionID])
			}
		}
	})
}

func TestFaults(t *testing.T) {
	well := board.Status{Mode: board.ModeEBPF}
	ago := func(d time.Duration) *time.Time { at := noon.Add(-d); return &at }
	for name, row := range map[string]struct {
		change func(*board.Status)
		says   string
	}{
		"AGT-2 well":                         {func(*board.Status) {}, ""},
		"AGT-4 no eBPF":                      {func(s *board.Status) { s.Mode, s.ModeReason = board.ModeConnector, "not permitted" }, "not permitted"},
		"AGT-4 blind":                        {func(s *board.Status) { s.Blind = []string{"arguments"} }, "blind: arguments"},
		"AGT-2 events were lost":             {func(s *board.Status) { s.LastGap = ago(time.Minute) }, "lost"},
		"AGT-2 events were lost long ago":    {func(s *board.Status) { s.LastGap = ago(time.Hour) }, ""},
		"AGT-3 the journal cannot be read":   {func(s *board.Status) { s.JournalError = "no such file" }, "no such file"},
		"AGT-6 the output cannot be written": {func(s *board.Status) { s.OutputError = "no space" }, "no space"},
	} {
		t.Run(name, func(t *testing.T) {
			s := well
			row.change(&s)
			got := strings.Join(s.Faults(noon), "; ")
			if (got == "") != (row.says == "") || !strings.Contains(got, row.says) {
				t.Errorf("Faults(…) = %q, want %q", got, row.says)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	b := board.New(board.Options{Live: func(s *board.Status) { s.Mode, s.Held, s.RingUsed = board.ModeEBPF, 3, 4096 }})
	write(t, b, event(attribution.KindExec, 1, "secret --password=hunter2"))
	notices := []*agent.Notice{{Kind: agent.NoticeForged}, {Kind: agent.NoticeLost, Count: -1, Reason: "restart"}, {Kind: agent.NoticeBlind, Reason: "arguments"}}
	if err := b.Write(nil, notices); err != nil {
		t.Fatal(err)
	}
	b.OutputFailed(errors.New("no space"))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(b)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			if strings.Contains(m.String(), "hunter2") {
				t.Error("a metric has an argument:", m)
			}
		}
	}
	for name, want := range map[string]float64{
		"lanyard_agent_events_total exec": 1, "lanyard_agent_events_total fork": 0, "lanyard_agent_forged_marks_total": 1,
		"lanyard_agent_gaps_total": 1, "lanyard_agent_lost_events_total restart": 0, "lanyard_agent_sessions": 1,
		"lanyard_agent_held_events": 3, "lanyard_agent_ring_used_bytes": 4096, "lanyard_agent_mode ebpf": 1, "lanyard_agent_faults": 2,
	} {
		t.Run("AGT-6 "+name, func(t *testing.T) {
			if value, there := got[name]; !there || value != want {
				t.Errorf("%v (there: %t), want %v", value, there, want)
			}
		})
	}
	t.Run("AGT-2 reasons are bounded", func(t *testing.T) {
		for i := range 100 {
			if err := b.Write(nil, []*agent.Notice{{Kind: agent.NoticeLost, Count: 1, Reason: strings.Repeat("x", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		if s := b.Status(); len(s.Lost) > 17 || s.Gaps != 101 {
			t.Errorf("%d reasons, %d gaps", len(s.Lost), s.Gaps)
		}
	})
}
