package source_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

// starting is a Reader of processes that come to be and run a program, each in a session of its own, and then of
// nothing.
type starting struct {
	processes, next int
	interrupted     chan struct{}
}

func (r *starting) Read(o *agent.Observation) error {
	if r.next == 2*r.processes {
		<-r.interrupted
		return source.ErrInterrupted
	}
	pid := r.next/2 + 10
	*o = observation(agent.Kind(r.next%2), uint32(pid), pid)
	if o.Kind == agent.KindExec {
		o.File = "/usr/bin/curl"
		o.Args = redact.NewBytes([]byte("curl\x00-sS\x00--retry\x003\x00https://example.com/api/v1/things?page=7\x00"))
		o.Env = redact.NewBytes([]byte(environment))
	}
	r.next++
	return nil
}

func (r *starting) Interrupt()                         { close(r.interrupted) }
func (r *starting) Told(uint64, int64) error           { return nil }
func (r *starting) Counters() (source.Counters, error) { return source.Counters{}, nil }
func (r *starting) records() (all []journal.Record, _ error) {
	for i := range r.processes {
		all = append(all, marked(fmt.Sprint("e", i), uint32(i)+10))
	}
	return all, nil
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestMemory(t *testing.T) {
	t.Run("AGT-5 10,000 live processes in as many sessions, with answers, take less than 32 MiB", func(t *testing.T) {
		const processes, limit = 10_000, 32 << 20
		before := heap()
		r := &starting{processes: processes, interrupted: make(chan struct{})}
		s, err := source.New(source.Options{
			Node: "n1", BootID: boot, NoWalk: true, Reader: r, Waiting: r.records, Outputs: []source.Output{&written{}},
			Answers: func(*attribution.Answer) {}, Tracker: agent.Options{Hold: patience},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		until(t, "event of each", func() bool { return s.Status().Told == 2*processes })
		used := heap() - before
		if st := s.Status(); st.Tracker.Processes != processes || st.Tracker.Sessions != processes ||
			st.Tracker.EvictedSessions != 0 {
			t.Errorf("Status = %+v", st)
		}
		if t.Logf("%d bytes in use, %d for each process and its session", used, used/processes); used > limit {
			t.Errorf("%d bytes in use, want at most %d", used, limit)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
