package join

import (
	"context"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// Live takes what sources give as it comes. At every tick it tells the machine the time: the tick's, or where a
// source is still catching up with its past, the time that one has come to. It ends, with everything answered, when
// all sources have ended or ctx is done. A source may be a channel that the caller made, of a webhook for example.
func Live(ctx context.Context, m *attribution.Machine, sources []<-chan *lines.Batch, ticks <-chan time.Time, trouble Trouble) {
	all := together(ctx, sources)
	progress := make([]reached, len(sources))
	for {
		select {
		case a, ok := <-all:
			if !ok {
				m.Flush()
				return
			}
			trouble.tell(a.batch)
			add(m, &a.batch.Batch)
			progress[a.source].note(latest(&a.batch.Batch))
			a.batch.Release()
		case t := <-ticks:
			m.Advance(common(progress, t))
		}
	}
}

// reached is how far a source has come.
type reached struct {
	at   time.Time
	busy bool // it gave something since the last tick
}

func (r *reached) note(t time.Time) {
	r.busy = true
	if t.After(r.at) {
		r.at = t
	}
}

// latest returns the latest time in the batch, the zero time for an empty one.
func latest(b *attribution.Batch) (t time.Time) {
	note := func(at time.Time) {
		if at.After(t) {
			t = at
		}
	}
	for i := range b.Audits {
		note(b.Audits[i].At)
	}
	for i := range b.Events {
		note(b.Events[i].Time)
	}
	for i := range b.Records {
		note(b.Records[i].Time)
	}
	return t
}

// common returns the time up to which every source has told what it has.
func common(progress []reached, now time.Time) time.Time {
	for i := range progress {
		if p := &progress[i]; p.busy && p.at.Before(now) {
			now = p.at
		}
		progress[i].busy = false
	}
	return now
}

func add(m *attribution.Machine, b *attribution.Batch) {
	for i := range b.Audits {
		m.AddAudit(&b.Audits[i])
	}
	for i := range b.Records {
		m.AddRecord(&b.Records[i])
	}
	for i := range b.Events {
		m.AddEvent(&b.Events[i])
	}
}

type arrival struct {
	source int
	batch  *lines.Batch
}

func together(ctx context.Context, sources []<-chan *lines.Batch) <-chan arrival {
	out := make(chan arrival)
	var running sync.WaitGroup
	for i, s := range sources {
		running.Add(1)
		go func() {
			defer running.Done()
			for b := range s {
				select {
				case out <- arrival{i, b}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	go func() {
		running.Wait()
		close(out)
	}()
	return out
}
