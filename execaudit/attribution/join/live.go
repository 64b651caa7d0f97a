package join

import (
	"context"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// Live takes what sources give as it comes, and tells the machine the time at every tick. It ends, with everything
// answered, when all sources have ended or ctx is done. A source may also be a channel, of a webhook for example.
func Live(ctx context.Context, m *attribution.Machine, sources []<-chan *lines.Batch, ticks <-chan time.Time, trouble Trouble) {
	all := together(ctx, sources)
	for {
		select {
		case b, ok := <-all:
			if !ok {
				m.Flush()
				return
			}
			trouble.tell(b)
			add(m, &b.Batch)
			b.Release()
		case t := <-ticks:
			m.Advance(t)
		}
	}
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

func together(ctx context.Context, sources []<-chan *lines.Batch) <-chan *lines.Batch {
	out := make(chan *lines.Batch)
	var running sync.WaitGroup
	for _, s := range sources {
		running.Add(1)
		go func() {
			defer running.Done()
			for b := range s {
				select {
				case out <- b:
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
