package flight_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/internal/flight"
)

// TestAgreesWithModel plays random callers against one slow and obvious model: a list of runs, and who waits for which.
func TestAgreesWithModel(t *testing.T) {
	t.Run("every caller gets the outcome of the run that it waits for, or leaves, and no run has two beginnings", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			options := flight.Options{Detached: rapid.Bool().Draw(rt, "detached")}
			if rapid.Bool().Draw(rt, "limited") {
				options.Limit = 10 * time.Second
			}
			steps := rapid.SliceOfN(rapid.SampledFrom([]step{join, join, join, leave, leave, answer, end, wait}), 1, 40).Draw(rt, "steps")
			picks := rapid.SliceOfN(rapid.IntRange(0, 1<<20), len(steps), len(steps)).Draw(rt, "picks")
			var fault string
			synctest.Test(t, func(t *testing.T) { fault = play(t.Context(), options, steps, picks) })
			if fault != "" {
				rt.Fatal(fault)
			}
		})
	})
}

type step string

const (
	join   step = "join"   // a caller comes
	leave  step = "leave"  // one that waits goes
	answer step = "answer" // the function of the current run returns
	end    step = "end"    // the owner ends the current run
	wait   step = "wait"   // four seconds pass
)

var errEnded = errors.New("ended by the owner")

// caller is one call of Do. Want is what the model says of it: "" while it waits.
type caller struct {
	cancel context.CancelFunc
	run    int
	want   string
	got    atomic.Value
}

// table is the model: the current run's number, 0 for none, and its time.
type table struct {
	group   flight.Group[string, int]
	options flight.Options
	callers []*caller
	begun   int
	current int
	until   time.Time
	may     map[int]chan struct{}
}

// play returns what is wrong, empty for nothing.
func play(ctx context.Context, options flight.Options, steps []step, picks []int) string {
	m := &table{options: options, may: map[int]chan struct{}{}}
	defer m.group.Close(errEnded)
	for i, s := range steps {
		m.apply(ctx, s, picks[i])
		synctest.Wait()
		for n, c := range m.callers {
			if got, _ := c.got.Load().(string); got != c.want {
				return fmt.Sprintf("after %v: caller %d of run %d has %q, want %q", steps[:i+1], n, c.run, got, c.want)
			}
		}
	}
	return ""
}

func (m *table) apply(ctx context.Context, s step, pick int) {
	switch waiting := m.waiting(); {
	case s == join:
		m.join(ctx)
	case s == leave && len(waiting) > 0:
		c := waiting[pick%len(waiting)]
		c.want = "left"
		c.cancel()
		if len(waiting) == 1 && !m.options.Detached {
			m.current = 0
		}
	case s == answer && m.current != 0:
		close(m.may[m.current])
		m.settle(fmt.Sprint("run ", m.current))
	case s == end && m.current != 0:
		m.group.End("", errEnded)
		m.settle(errEnded.Error())
	case s == wait:
		time.Sleep(4 * time.Second) // of the bubble's clock
		if m.current != 0 && m.options.Limit > 0 && !time.Now().Before(m.until) {
			m.settle((&flight.LimitError{Limit: m.options.Limit}).Error())
		}
	}
}

func (m *table) join(ctx context.Context) {
	if m.current == 0 {
		m.begun++
		m.current, m.until = m.begun, time.Now().Add(m.options.Limit)
		m.may[m.current] = make(chan struct{})
	}
	number := m.current
	ctx, cancel := context.WithCancel(ctx)
	c := &caller{cancel: cancel, run: number}
	m.callers = append(m.callers, c)
	go func() {
		defer cancel()
		n, _, err := m.group.Do(ctx, "", m.options, func(run *flight.Run) (int, error) {
			select {
			case <-m.may[number]:
			case <-run.Done():
			}
			return number, nil
		})
		var left *flight.LeftError
		switch {
		case errors.As(err, &left):
			c.got.Store("left")
		case err != nil:
			c.got.Store(err.Error())
		default:
			c.got.Store(fmt.Sprint("run ", n))
		}
	}()
}

// waiting returns those who wait for the current run.
func (m *table) waiting() []*caller {
	var waiting []*caller
	for _, c := range m.callers {
		if c.want == "" {
			waiting = append(waiting, c)
		}
	}
	return waiting
}

func (m *table) settle(want string) {
	for _, c := range m.waiting() {
		c.want = want
	}
	m.current = 0
}
