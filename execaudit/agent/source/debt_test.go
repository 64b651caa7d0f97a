package source_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// lossy is a Reader of a recording that has lost some, once it has given all, and then goes on when it is told to.
type lossy struct {
	*source.Recording
	loses int64
	more  chan struct{}

	mu       sync.Mutex
	left     int
	lost     int64
	told     uint64
	toldLost int64
}

func (l *lossy) Read(o *agent.Observation) error {
	l.mu.Lock()
	if l.left == 0 {
		l.lost = l.loses
	}
	l.left--
	wait := l.left < 0
	l.mu.Unlock()
	if wait {
		<-l.more
	}
	return l.Recording.Read(o)
}

func (l *lossy) Counters() (source.Counters, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return source.Counters{Lost: l.lost}, nil
}

func (l *lossy) Told(n uint64, lost int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told, l.toldLost = n, lost
	return nil
}

func (l *lossy) state() (told uint64, toldLost int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told, l.toldLost
}

// lossesOf sums what the lines tell to be lost, and counts the notices of each kind.
func lossesOf(t *testing.T, k *kept) (lost int64, kinds map[agent.NoticeKind]int) {
	t.Helper()
	kinds = map[agent.NoticeKind]int{}
	for line := range strings.Lines(k.text()) {
		var l struct {
			Notice agent.NoticeKind
			Count  int64
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Notice != "" {
			kinds[l.Notice]++
		}
		lost += l.Count
	}
	return lost, kinds
}

// each reports whether every notice but those of losses was told, once.
func each(kinds map[agent.NoticeKind]int, s *source.Source) bool {
	forged := int(s.Status().Tracker.Forged)
	return kinds[agent.NoticeForged] == forged && kinds[agent.NoticeStart] == 1 && kinds[agent.NoticeStop] == 1
}

func TestDebt(t *testing.T) {
	const processes, loses = 5000, 70
	start := func(t *testing.T, out source.Output) (*source.Source, *lossy, chan error) {
		t.Helper()
		observations, records := recording(processes, true)
		observations = append(observations, observation(agent.KindExec, 1<<20, 1)) // of no session
		r := &lossy{
			Recording: source.NewRecording(observations), loses: loses, more: make(chan struct{}), left: len(observations),
		}
		s, err := source.New(source.Options{
			Node: "n1", BootID: boot, NoWalk: true, Reader: r, Outputs: []source.Output{out}, QueueBytes: 1 << 20,
			Waiting: func() ([]journal.Record, error) { return records, nil },
			Tracker: agent.Options{Hold: 100 * time.Millisecond},
		})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Run(context.Background()) }()
		until(t, "loss and forgery among what the output misses", func() bool {
			st := s.Status()
			return st.Outputs[0].Missed > 0 && st.Tracker.Forged > 0 && st.Tracker.Lost == loses
		})
		return s, r, done
	}
	t.Run("AGT-2 what an output misses is lost to the next agent, unless the output is told so", func(t *testing.T) {
		out := &stuck{free: make(chan struct{})}
		s, r, done := start(t, out)
		until(t, "word to the reader", func() bool {
			told, lost := r.state()
			return told == 0 && lost == -s.Status().Outputs[0].Missed // the first batch is being written: it comes again
		})
		close(out.free)
		close(r.more)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		st := s.Status()
		if told, lost := r.state(); told != 3*processes+1 || lost != loses {
			t.Errorf("told %d observations and %d lost, want %d and %d", told, lost, 3*processes+1, loses)
		}
		if lost, _ := lossesOf(t, &out.kept); lost != st.Outputs[0].Missed+loses {
			t.Errorf("%d are told to be lost, want %d missed and %d of the reader's", lost, st.Outputs[0].Missed, loses)
		}
	})
	t.Run("AGT-6 a notice that an output misses comes later, and is not lost", func(t *testing.T) {
		out := &stuck{free: make(chan struct{})}
		s, r, done := start(t, out)
		close(out.free)
		close(r.more)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if _, kinds := lossesOf(t, &out.kept); !each(kinds, s) {
			t.Errorf("notices %v", kinds)
		}
	})
	t.Run("AGT-6 an output that refuses notices gets them when it does not, and each once", func(t *testing.T) {
		out := &failing{bad: true}
		s, r, done := start(t, out)
		out.mend()
		close(r.more)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		lost, kinds := lossesOf(t, &out.kept)
		if !each(kinds, s) || lost < loses {
			t.Errorf("%d lost, notices %v", lost, kinds)
		}
		if told, lost := r.state(); told != 3*processes+1 || lost != loses {
			t.Errorf("told %d observations and %d lost, want %d and %d", told, lost, 3*processes+1, loses)
		}
	})
}
