package join_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// live is a run of Live over channels that a test writes to.
type live struct {
	sources []chan *lines.Batch
	ticks   chan time.Time
	answers chan string // one for each answer
	machine *attribution.Machine
	ended   chan struct{}
	told    named
}

// start begins a run; answer may be nil.
func start(ctx context.Context, sources int, options attribution.Options, answer func(*attribution.Answer)) *live {
	l := &live{ticks: make(chan time.Time), answers: make(chan string, 1e5), ended: make(chan struct{})}
	var read []<-chan *lines.Batch
	for range sources {
		c := make(chan *lines.Batch)
		l.sources, read = append(l.sources, c), append(read, c)
	}
	l.machine = attribution.New(options, func(a *attribution.Answer) {
		l.told.add(a)
		l.answers <- l.told.list[len(l.told.list)-1]
		if answer != nil {
			answer(a)
		}
	})
	go func() {
		defer close(l.ended)
		join.Live(ctx, l.machine, read, l.ticks, join.Trouble{})
	}()
	return l
}

// batches is what a growing file with these lines gives, in batches of n lines.
func batches(log []string, n int) (list []*lines.Batch) {
	for _, part := range parts(log, n) {
		for b := range (&lines.Source{Files: source(part).Files, Live: true}).Read(context.Background()) {
			b.Ended = nil
			list = append(list, b)
		}
	}
	return list
}

func (l *live) give(source int, log []string, n int) {
	for _, b := range batches(log, n) {
		l.sources[source] <- b
	}
}

// end ends all sources and returns what was answered.
func (l *live) end() string {
	for _, s := range l.sources {
		close(s)
	}
	<-l.ended
	return l.told.sorted()
}

func at(seconds int) time.Time { return dawn.Add(time.Duration(seconds) * time.Second) }

// get is a line of an audit log about another request.
func get(seconds int) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"o","stage":"ResponseComplete","objectRef":{"resource":"pods"},"requestReceivedTimestamp":"%[1]s","stageTimestamp":"%[1]s"}`, at(seconds).Format(time.RFC3339))
}

func TestTicks(t *testing.T) {
	const n = 3
	audit, journal, events := logs(n)
	t.Run("ATT-6 a tick answers what waits, also when nothing comes", func(t *testing.T) {
		l := start(t.Context(), 3, attribution.Options{}, nil)
		for i, log := range [][]string{audit, journal, events} {
			l.give(i, log, 2)
		}
		for s := range 4 {
			l.ticks <- at(3600 + s)
		}
		for range 2 * n {
			<-l.answers
		}
		if got := l.end(); got != right(n) {
			t.Errorf("answers\n%s", got)
		}
	})
	t.Run("ATT-6 an audit log that is busy with other requests holds up no answer", func(t *testing.T) {
		l := start(t.Context(), 3, attribution.Options{}, nil)
		for i, log := range [][]string{audit, journal, events} {
			l.give(i, log, 2)
		}
		for s := range 60 {
			l.give(0, []string{get(s)}, 1)
			l.ticks <- at(s)
		}
		for range 2 * n {
			<-l.answers
		}
		if got := l.end(); got != right(n) {
			t.Errorf("answers\n%s", got)
		}
	})
	t.Run("ATT-6 a source whose clock is a day behind holds up no answer", func(t *testing.T) {
		l := start(t.Context(), 4, attribution.Options{}, nil)
		for i, log := range [][]string{audit, journal, events} {
			l.give(i, log, 2)
		}
		for s := range 200 {
			l.give(3, []string{get(s - 86400)}, 1)
			l.ticks <- at(s)
		}
		for range 2 * n {
			<-l.answers
		}
		if got := l.end(); got != right(n) {
			t.Errorf("answers\n%s", got)
		}
	})
	t.Run("ATT-6 a source of now and then is taken at once, however long others catch up", func(t *testing.T) {
		_, _, past := logs(300)
		l := start(t.Context(), 4, attribution.Options{}, nil)
		for i, log := range [][]string{audit, journal, events} {
			l.give(i, log, 2)
		}
		for s := range 4 {
			l.ticks <- at(3600 + s)
		}
		l.give(3, past[:20], 20) // of an hour before
		l.give(0, []string{get(3700), get(3700)}, 1)
		l.ticks <- at(3700)
		l.give(3, past[20:400], 20)
		for i := range 5 {
			l.give(0, []string{get(3800 + i)}, 1) // would wait for ever for source 3
		}
		l.end()
	})
	t.Run("ATT-6 two ticks without anything are not the end of what a source has of the past", func(t *testing.T) {
		const n, step = 400, 10 // 7 s
		audit, journal, events := logs(n)
		l := start(t.Context(), 3, attribution.Options{}, nil)
		for from := 0; from < n; from += step {
			for i, log := range [][]string{audit, journal, events} {
				each := len(log) / n
				first, last := from, from+step
				if i == 0 { // has less for now
					first, last = max(first-5, 0), last-5
				}
				l.give(i, log[first*each:last*each], step*each)
			}
			for s := range 3 { // the first has what came
				l.ticks <- at(86400).Add(time.Duration(from/step*3+s) * 500 * time.Millisecond)
			}
		}
		l.give(0, audit[2*(n-5):], 20)
		if got := l.end(); got != right(n) || l.machine.Stats().Late > 0 {
			t.Errorf("%d of %d answers are right, %+v", common(got, right(n)), 2*n, l.machine.Stats())
		}
	})
	t.Run("ATT-6 without ticks everything is answered at the end", func(t *testing.T) {
		closed := make(chan time.Time)
		close(closed)
		for _, ticks := range []chan time.Time{nil, closed} {
			var got named
			m := attribution.New(attribution.Options{}, got.add)
			var sources []<-chan *lines.Batch
			for _, log := range [][]string{events, journal, audit} {
				sources = append(sources, source(log).Read(context.Background()))
			}
			join.Live(t.Context(), m, sources, ticks, join.Trouble{})
			if got.sorted() != right(n) {
				t.Errorf("answers\n%s", got.sorted())
			}
		}
	})
	t.Run("ATT-6 a context that is done ends it while its sources are idle, and what came is answered", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := start(ctx, 4, attribution.Options{}, nil)
		for i, log := range [][]string{audit, journal, events} {
			l.give(i, log, len(log))
		}
		cancel()
		<-l.ended
		if got := l.told.sorted(); got != right(n) {
			t.Errorf("answers\n%s", got)
		}
	})
}

// noisy returns the events with many more among them, of processes outside of sessions.
func noisy(events []string) (all []string) {
	for i, line := range events {
		all = append(all, line)
		for k := range 10 {
			all = append(all, fmt.Sprintf(`{"version":1,"event":"exec","time":"%s","node":"n0","process":{"pid":500,"startTicks":%d,"bootID":"b"}}`, stamp(i/2*700+40+k), i*10+k+1))
		}
	}
	return all
}

func TestCatchUp(t *testing.T) {
	const n = 1500
	audit, journal, events := logs(n)
	events = noisy(events)
	for _, c := range []struct {
		name string
		with func([]string) []string
	}{
		{"ATT-6 sources that catch up at speeds of their own stay together, within the bound of memory", func(log []string) []string { return log }},
		{"ATT-14 a line of the far future in a source that catches up changes no other answer", func(log []string) []string {
			return slices.Insert(slices.Clone(log), len(log)/10, hostile(log[0]))
		}},
		{"ATT-14 lines of the past in a source that catches up change no other answer", func(log []string) (with []string) {
			for i, line := range log {
				if with = append(with, line); i%50 == 0 {
					with = append(with, strings.ReplaceAll(hostile(log[0]), far, "1970-01-01T00:00:00Z"))
				}
			}
			return with
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := start(t.Context(), 3, attribution.Options{MaxBytes: 8 << 20}, nil)
			for i, log := range [][]string{audit, journal, events} {
				go func() {
					l.give(i, c.with(log), []int{40, 20, 440}[i])
					close(l.sources[i])
				}()
			}
			<-l.ended
			if got, s := l.told.sorted(), l.machine.Stats(); common(got, right(n)) != 2*n || s.EarlyAnswers > 0 {
				t.Errorf("%d of %d answers are right, %+v", common(got, right(n)), 2*n, s)
			}
		})
	}
}
