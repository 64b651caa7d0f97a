//go:build linux

package theatre_test

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

func load(t *testing.T, o bpf.Options, logins uint32) *bpf.Programs {
	t.Helper()
	o.MinLoginUID, o.MaxLoginUID = logins, logins+theatre.Logins-1
	p, err := bpf.Load(o)
	if errors.Is(err, bpf.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reading is a reader at work. It tells the kernel that all is told as soon as it read it, but for what stop leaves.
type reading struct {
	programs *bpf.Programs
	told     []theatre.Fact
	err      error
	wait     sync.WaitGroup
}

func read(p *bpf.Programs) *reading {
	r := &reading{programs: p}
	r.wait.Go(func() {
		var o agent.Observation
		for {
			if r.err = p.Read(&o); r.err != nil {
				return
			}
			r.told = append(r.told, theatre.Told(&o))
			p.Told(p.Position(), 0)
		}
	})
	return r
}

// end reads what is there and returns what was told.
func (r *reading) end(t testing.TB) []theatre.Fact {
	t.Helper()
	r.programs.Interrupt()
	r.wait.Wait()
	if !errors.Is(r.err, bpf.ErrInterrupted) {
		t.Fatal(r.err)
	}
	return r.told
}

// casts are sessions with marks from that number on, every fourth without and every fifth with an ordinary login.
func casts(n, rounds int, logins uint32, c *theatre.Container) []theatre.Plan {
	plans := make([]theatre.Plan, n)
	for i := range plans {
		plans[i] = theatre.Plan{LoginUID: logins + uint32(i), Rounds: rounds, Container: c, Early: i%2 == 0}
		switch {
		case i%4 == 3:
			plans[i].LoginUID = 0
		case i%5 == 4:
			plans[i].LoginUID = 1000
		}
	}
	return plans
}

func play(t *testing.T, s *theatre.Stage, plans []theatre.Plan, logins uint32) (facts []theatre.Fact) {
	t.Helper()
	sessions, err := s.Play(plans, len(plans), theatre.Cues{})
	if err != nil {
		t.Fatal(err)
	}
	records, err := s.Records()
	if err != nil {
		t.Fatal(err)
	}
	marked := map[uint32]bool{}
	for i, session := range sessions {
		if plans[i].LoginUID >= logins {
			marked[session.SessionID] = true
		}
	}
	return theatre.Facts(records, func(r theatre.Record) bool { return marked[r.SessionID] })
}

func judge(t *testing.T, facts, told []theatre.Fact, lost uint64) {
	t.Helper()
	missing, invented := theatre.Compare(facts, told)
	t.Logf("%d facts, %d told, %d missing, at most %d lost", len(facts), len(told), len(missing), lost)
	if uint64(len(missing)) > lost {
		t.Errorf("%d facts are missing, %d counted; the first is %+v", len(missing), lost, missing[0])
	}
	if len(invented) > 0 {
		t.Errorf("%d are told that are no facts; the first is %+v", len(invented), invented[0])
	}
}

func TestPrograms(t *testing.T) {
	for _, raw := range []bool{false, true} {
		name := "tp_btf"
		if raw {
			name = "raw"
		}
		t.Run("AGT-1 every process of marked sessions, no other, "+name, func(t *testing.T) {
			stage, logins := theatre.Open(t, 8*4*theatre.ProcessesPerRound+200), theatre.FreeLogins()
			p := load(t, bpf.Options{Raw: raw}, logins)
			defer p.Close()
			r := read(p)
			facts := play(t, stage, casts(8, 4, logins, theatre.NewContainer(t)), logins)
			told := r.end(t)
			c, err := p.Counters()
			if err != nil {
				t.Fatal(err)
			}
			judge(t, facts, told, c.Lost())
			if c.Seen != uint64(len(told))+c.Dropped {
				t.Errorf("%+v, %d told", c, len(told))
			}
		})
	}
}

func TestProgramsSmallRing(t *testing.T) {
	t.Run("AGT-2 what does not fit is counted, each one", func(t *testing.T) {
		stage, logins := theatre.Open(t, 4*4*theatre.ProcessesPerRound+200), theatre.FreeLogins()
		p := load(t, bpf.Options{RingBytes: 4 << 10}, logins)
		defer p.Close()
		r := read(p)
		facts := play(t, stage, casts(4, 4, logins, theatre.NewContainer(t)), logins)
		told := r.end(t)
		c, err := p.Counters()
		if err != nil {
			t.Fatal(err)
		}
		judge(t, facts, told, c.Lost())
		if c.Seen != uint64(len(told))+c.Dropped || c.Missed == 0 && c.Seen != uint64(len(facts)) {
			t.Errorf("%+v of %d facts, %d told", c, len(facts), len(told))
		}
	})
}

func TestProgramsStoppedReader(t *testing.T) {
	t.Run("AGT-2 a reader that stopped finds the oldest, and how many more there were", func(t *testing.T) {
		stage, logins := theatre.Open(t, 4*4*theatre.ProcessesPerRound+200), theatre.FreeLogins()
		p := load(t, bpf.Options{RingBytes: 64 << 10}, logins)
		defer p.Close()
		facts := play(t, stage, casts(4, 4, logins, theatre.NewContainer(t)), logins)
		told := read(p).end(t)
		c, err := p.Counters()
		if err != nil {
			t.Fatal(err)
		}
		judge(t, facts, told, c.Lost())
		if c.Dropped == 0 || len(told) == 0 {
			t.Errorf("%+v, %d told", c, len(told))
		}
	})
}
