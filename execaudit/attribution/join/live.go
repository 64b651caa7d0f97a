package join

import (
	"context"
	"reflect"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// apart is how far a source may be ahead of one that catches up with its past.
const apart = 10 * time.Second

// Live takes what sources give as it comes, and tells the machine the time: at every tick the tick's, or where a source
// has not come so far yet, the time that one has come to. It ends when all sources have ended or ctx is done, with
// everything answered that was taken from them. A source may be a channel that the caller made, of a webhook for example.
//
// A source catches up while it gets on faster than the ticks. The machine waits for it meanwhile, and so do others that
// catch up: of each at most one batch is taken that is ahead of it. One that does not get on faster, though it is behind, has
// a wrong clock and is waited for a minute. Without ticks nothing waits, and everything is answered at the end. How far
// a source has come is the median of its last nine times: a line with a wrong time changes nothing but its own answer.
func Live(ctx context.Context, m *attribution.Machine, sources []<-chan *lines.Batch, ticks <-chan time.Time, trouble Trouble) {
	l := newLive(m, sources, ticks, trouble)
	for l.left > 0 && l.wait(ctx) {
		l.proceed()
	}
	for i := range l.streams {
		l.add(&l.streams[i])
	}
	m.Flush()
}

// live is one run of Live.
type live struct {
	machine *attribution.Machine
	trouble Trouble
	streams []stream
	sources []<-chan *lines.Batch
	cases   []reflect.SelectCase // ctx, ticks, then the sources
	left    int                  // sources that have not ended
	ticking bool
	now     time.Time // the last tick's
}

func newLive(m *attribution.Machine, sources []<-chan *lines.Batch, ticks <-chan time.Time, trouble Trouble) *live {
	l := &live{
		machine: m, trouble: trouble, streams: make([]stream, len(sources)), sources: sources, left: len(sources), ticking: ticks != nil,
		cases: make([]reflect.SelectCase, 2+len(sources)),
	}
	for i := range l.cases {
		l.cases[i].Dir = reflect.SelectRecv
	}
	l.cases[1].Chan = reflect.ValueOf(ticks)
	for i := range l.streams {
		l.streams[i].behind = true
	}
	return l
}

// wait takes what comes next; false when ctx is done.
func (l *live) wait(ctx context.Context) bool {
	l.cases[0].Chan = reflect.ValueOf(ctx.Done())
	for i := range l.streams {
		l.cases[2+i].Chan = reflect.Value{}
		if s := &l.streams[i]; !s.ended && s.held == nil {
			l.cases[2+i].Chan = reflect.ValueOf(l.sources[i])
		}
	}
	chosen, value, ok := reflect.Select(l.cases)
	switch {
	case chosen == 0:
		return false
	case chosen == 1 && ok:
		l.tick(value.Interface().(time.Time))
	case chosen == 1:
		l.cases[1].Chan, l.ticking = reflect.Value{}, false
	case ok:
		l.take(&l.streams[chosen-2], value.Interface().(*lines.Batch))
	default:
		l.streams[chosen-2].ended = true
		l.left--
	}
	return true
}

func (l *live) tick(now time.Time) {
	l.now = now
	for i := range l.streams {
		l.streams[i].tick(now)
	}
}

// take holds a batch with something in it until the others have come to its time.
func (l *live) take(s *stream, b *lines.Batch) {
	l.trouble.tell(b)
	s.begin(b)
	if size(b) == 0 {
		b.Release()
		return
	}
	s.held = b
}

// add adds what is held.
func (l *live) add(s *stream) {
	b := s.held
	if b == nil {
		return
	}
	for i := range b.Audits {
		l.machine.AddAudit(&b.Audits[i])
	}
	for i := range b.Records {
		l.machine.AddRecord(&b.Records[i])
	}
	for i := range b.Events {
		l.machine.AddEvent(&b.Events[i])
	}
	s.end(b)
	b.Release()
	s.held = nil
}

// proceed adds what does not have to wait any more, and tells the machine the time.
func (l *live) proceed() {
	for added := true; added; {
		added = false
		until, wait := l.furthestBehind()
		for i := range l.streams {
			if s := &l.streams[i]; s.held != nil && (!wait || !s.behind || !s.at.After(until.Add(apart))) {
				l.add(s)
				added = true
			}
		}
	}
	if t, ok := l.reached(); ok {
		l.machine.Advance(t)
	}
}

// furthestBehind returns the time that the others wait for; false when they need not.
func (l *live) furthestBehind() (t time.Time, ok bool) {
	if !l.ticking {
		return t, false
	}
	for i := range l.streams {
		if s := &l.streams[i]; s.waitedFor() && (!ok || s.at.Before(t)) {
			t, ok = s.at, true
		}
	}
	return t, ok
}

// reached returns the time up to which every source has told what it has; false if none says so.
func (l *live) reached() (t time.Time, ok bool) {
	if !l.ticking {
		return t, false
	}
	t, ok = l.now, !l.now.IsZero()
	for i := range l.streams {
		if at, tells := l.streams[i].reached(l.now); tells && (!ok || at.Before(t)) {
			t, ok = at, true
		}
	}
	return t, ok
}
