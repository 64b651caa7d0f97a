package board_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// sink is an output in memory.
type sink struct {
	text             strings.Builder
	failing, rotated error
	closed           bool
}

func (s *sink) Append(lines []byte) error {
	if s.failing == nil {
		s.text.Write(lines)
	}
	return s.failing
}
func (s *sink) Rotated() error { return s.rotated }
func (s *sink) Close() error   { s.closed = true; return nil }

func event(kind agent.Kind, command string) *agent.Event {
	return &agent.Event{
		Event: attribution.Event{Node: "n1", Time: noon, SessionID: 7, Process: attribution.Process{PID: 1, StartTicks: 2, BootID: "boot"}, Command: command},
		Args:  strings.Fields(command), Observation: agent.Observation{Kind: kind},
	}
}

func write(t testing.TB, b *board.Board, events []*agent.Event, notices ...*agent.Notice) {
	t.Helper()
	if err := b.Write(events, notices); err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	t.Run("AGT-6 events and notices are lines, in their order, and counted", func(t *testing.T) {
		out := &sink{}
		b := board.New(out, board.Options{})
		own := event(agent.KindExec, "runc init")
		own.Role = agent.RoleRuntime
		write(t, b, []*agent.Event{own, event(agent.KindFork, ""), event(agent.KindExit, "")}, &agent.Notice{Kind: agent.NoticeForged, Time: noon})
		lines := strings.Split(strings.TrimSuffix(out.text.String(), "\n"), "\n")
		for i, want := range []string{`"event":"exec"`, `"event":"fork"`, `"event":"exit"`, `"notice":"forged"`} {
			if len(lines) != 4 || !strings.Contains(lines[i], want) {
				t.Fatalf("%q, want %s at %d", lines, want, i)
			}
		}
		if s := b.Status(); s.Events["exec"] != 1 || s.Events["fork"] != 1 || s.Events["exit"] != 1 || s.Runtime != 1 || s.Notices["forged"] != 1 {
			t.Errorf("%+v", s)
		}
		if err := b.Close(); err != nil || !out.closed {
			t.Errorf("Close() = %v, closed: %t", err, out.closed)
		}
	})
	t.Run("AGT-6 AGT-2 what cannot be written is not counted as written, and told until it can", func(t *testing.T) {
		out := &sink{failing: errors.New("no space"), rotated: errors.New("no names")}
		b := board.New(out, board.Options{})
		if err := b.Write([]*agent.Event{event(agent.KindExec, "id")}, nil); err == nil {
			t.Fatal("no error")
		}
		if s := b.Status(); s.OutputError != "no space" || s.RotationError != "no names" || s.Events["exec"] != 0 {
			t.Errorf("%+v", s)
		}
		out.failing, out.rotated = nil, nil
		write(t, b, nil, &agent.Notice{Kind: agent.NoticeLost, Time: noon, Count: 1, Reason: "slow"})
		if s := b.Status(); s.OutputError != "" || s.RotationError != "" || s.Lost["slow"] != 1 || *s.LastGap != noon {
			t.Errorf("%+v", s)
		}
	})
	t.Run("AGT-2 reasons are bounded, and none is left out of the sum", func(t *testing.T) {
		b := board.New(&sink{}, board.Options{})
		for i := range 100 {
			write(t, b, nil, &agent.Notice{Kind: agent.NoticeLost, Count: 1, Reason: strings.Repeat("x", i)})
		}
		s := b.Status()
		var sum uint64
		for _, n := range s.Lost {
			sum += n
		}
		if len(s.Lost) > 17 || sum != 100 || s.Notices["lost"] != 100 {
			t.Errorf("%d reasons, %d lost, %d told", len(s.Lost), sum, s.Notices["lost"])
		}
	})
}

func TestSnapshot(t *testing.T) {
	b := board.New(&sink{}, board.Options{Now: func() time.Time { return noon }})
	if s := b.Snapshot(); len(s.Sessions) != 0 || s.Sessions == nil || s.Time != noon {
		t.Errorf("%+v", s)
	}
	b.Live(func(s *board.Status) { s.Mode = board.ModeEBPF }, func() []agent.SessionState {
		return []agent.SessionState{
			{SessionID: 8, Began: noon, Processes: 2, Command: "id"},
			{SessionID: 7, Began: noon, Session: &journal.Session{ExecSession: "e1", Pod: "cart"}, Process: attribution.Process{PID: 5}},
		}
	})
	t.Run("AGT-3 sessions have what the journal has of them, in a defined order", func(t *testing.T) {
		s := b.Snapshot()
		if s.Status.Mode != board.ModeEBPF || len(s.Sessions) != 2 {
			t.Fatalf("%+v", s)
		}
		if first, second := s.Sessions[0], s.Sessions[1]; !first.Known || first.Pod != "cart" || first.PID != 5 || second.Known || second.Processes != 2 {
			t.Errorf("%+v", s.Sessions)
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
		"AGT-4 no eBPF":                      {func(s *board.Status) { s.Mode = board.ModeConnector }, "eBPF"},
		"AGT-4 blind":                        {func(s *board.Status) { s.Blind = []string{"arguments"} }, "blind: arguments"},
		"AGT-2 events were lost":             {func(s *board.Status) { s.LastGap = ago(time.Minute) }, "lost"},
		"AGT-2 events were lost long ago":    {func(s *board.Status) { s.LastGap = ago(time.Hour) }, ""},
		"AGT-2 too many at once":             {func(s *board.Status) { s.Evicted = 1 }, "more sessions"},
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
	b := board.New(&sink{}, board.Options{Live: func(s *board.Status) { s.Mode, s.Held, s.RingBytes, s.Blind = board.ModeEBPF, 3, 4096, []string{"x"} }})
	write(t, b, []*agent.Event{event(agent.KindExec, "secret --password=hunter2")},
		&agent.Notice{Kind: agent.NoticeForged}, &agent.Notice{Kind: agent.NoticeLost, Time: time.Now(), Count: -1, Reason: "restart"})
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
		"lanyard_agent_events_total exec": 1, "lanyard_agent_events_total fork": 0, "lanyard_agent_notices_total forged": 1,
		"lanyard_agent_notices_total lost": 1, "lanyard_agent_lost_events_total restart": 0, "lanyard_agent_held_events": 3,
		"lanyard_agent_ring_bytes": 4096, "lanyard_agent_mode ebpf": 1, "lanyard_agent_faults": 2,
	} {
		t.Run("AGT-6 "+name, func(t *testing.T) {
			if value, there := got[name]; !there || value != want {
				t.Errorf("%v (there: %t), want %v", value, there, want)
			}
		})
	}
}
