package source_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// failing is an Output that fails until it is mended.
type failing struct {
	kept
	broken sync.Mutex
	bad    bool
	failed int
}

var errDisk = errors.New("no space left")

func (f *failing) Write(events []*agent.Event, notices []*agent.Notice) error {
	f.broken.Lock()
	defer f.broken.Unlock()
	if f.bad {
		f.failed++
		return errDisk
	}
	return f.kept.Write(events, notices)
}

func (f *failing) mend() {
	f.broken.Lock()
	defer f.broken.Unlock()
	f.bad = false
}

// stuck is an Output that writes nothing until it is let go.
type stuck struct {
	kept
	free chan struct{}
}

func (s *stuck) Write(events []*agent.Event, notices []*agent.Notice) error {
	<-s.free
	return s.kept.Write(events, notices)
}

// paced is a Reader of a recording that goes on when it is told to.
type paced struct {
	*source.Recording
	more chan struct{}
}

func (p *paced) Read(o *agent.Observation) error {
	<-p.more
	return p.Recording.Read(o)
}

func TestOutputs(t *testing.T) {
	t.Run("AGT-2 an output that is too slow misses what does not fit, is told how much, and keeps nobody waiting",
		func(t *testing.T) {
			const processes = 5000
			observations, records := recording(processes, true)
			slow, fast := &stuck{free: make(chan struct{})}, &kept{}
			s, err := source.New(source.Options{
				Node: "n1", BootID: boot, NoWalk: true, Reader: source.NewRecording(observations), Outputs: []source.Output{
					slow,
					fast,
				}, QueueBytes: 1 << 20,
				Waiting: func() ([]journal.Record, error) { return records, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- s.Run(context.Background()) }()
			until(t, "event for the fast one", func() bool {
				return s.Status().Outputs[0].Missed > 0 &&
					s.Status().Outputs[1].Waiting == 0
			})
			if st := s.Status(); st.Outputs[0].Waiting > 2<<20 {
				t.Errorf("Status = %+v", st)
			}
			close(slow.free)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			st := s.Status()
			if got := st.Outputs[0]; got.Events+got.Missed != 3*processes || got.Missed == 0 {
				t.Errorf("slow: %+v", got)
			}
			if got := st.Outputs[1]; got.Events+got.Missed != 3*processes {
				t.Errorf("fast: %+v", got)
			}
			if text := slow.text(); !strings.Contains(text, `"notice":"lost"`) || !strings.Contains(text, "too slow") {
				t.Error("the slow one was not told")
			}
			if st.Told != 3*processes {
				t.Errorf("%d told to the reader", st.Told)
			}
		})
	t.Run("AGT-2 an output that fails is told what it missed once it does not, and its error is in the status",
		func(t *testing.T) {
			observations, records := recording(3, true)
			out := &failing{bad: true}
			r := &paced{source.NewRecording(observations), make(chan struct{}, len(observations)+1)}
			s, err := source.New(source.Options{
				Node: "n1", BootID: boot, NoWalk: true, Reader: r, Outputs: []source.Output{out},
				Waiting: func() ([]journal.Record, error) { return records, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- s.Run(context.Background()) }()
			for range 6 {
				r.more <- struct{}{}
			}
			until(t, "error", func() bool {
				st := s.Status().Outputs[0]
				return st.Error == errDisk.Error() && st.Missed == 6
			})
			out.mend()
			close(r.more)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			text := out.text()
			if !strings.Contains(text, `"notice":"lost"`) || !strings.Contains(text, `"count":6,`) || strings.Count(text,
				`"event":`) != 3 {
				t.Errorf("lines\n%s", text)
			}
			if st := s.Status().Outputs[0]; st.Error != "" {
				t.Errorf("Status = %+v", st)
			}
		})
	t.Run("AGT-7 an output that fails to its end is an error of Run, and no more", func(t *testing.T) {
		observations, records := recording(3, true)
		out := &failing{bad: true}
		s, err := source.New(source.Options{
			Node: "n1", BootID: boot, NoWalk: true, Reader: source.NewRecording(observations), Outputs: []source.Output{out},
			Waiting: func() ([]journal.Record, error) { return records, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(context.Background()); !errors.Is(err, errDisk) || !out.closed {
			t.Errorf("Run = %v", err)
		}
	})
}
