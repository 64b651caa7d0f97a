package source

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// pump writes to one output.
type pump struct {
	output Output
	limit  int
	now    func() time.Time
	tell   func(agent.Notice) *agent.Notice
	done   func(*batch)

	mu     sync.Mutex
	wake   chan struct{} // holds one
	queue  []*batch
	bytes  int
	ended  bool
	missed int64 // events that the output did not get and was not told of
	since  time.Time
	status OutputStatus
}

// OutputStatus is what became of one output.
type OutputStatus struct {
	// Events and Notices were written.
	Events, Notices int64
	// Missed events were not: it was too slow, or failed.
	Missed int64
	// Waiting is how many bytes wait for it, about.
	Waiting int
	// Error is the last error, "" for none since the last Write that was right. It is for people.
	Error string
}

// offer gives the batch to the output. It returns false when too much waits, and the output misses it.
func (p *pump) offer(b *batch) bool {
	p.mu.Lock()
	fits := p.bytes+b.bytes <= p.limit || len(p.queue) == 0
	if fits {
		p.queue = append(p.queue, b)
		p.bytes += b.bytes
	} else {
		p.miss(b)
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return fits
}

func (p *pump) miss(b *batch) {
	if p.missed == 0 {
		p.since = p.now()
	}
	p.missed += int64(len(b.events))
	p.status.Missed += int64(len(b.events))
}

// end lets run return when all is written.
func (p *pump) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run writes until end is called, and closes the output.
func (p *pump) run() error {
	for {
		b, lost, more := p.next()
		if !more {
			return errors.Join(p.last(lost), p.output.Close())
		}
		if b == nil {
			<-p.wake
			continue
		}
		events, notices := b.events, b.notices
		if lost != nil {
			if err := p.output.Write(nil, []*agent.Notice{lost}); err != nil {
				p.fail(lost.Count, err)
			}
		}
		p.wrote(b, p.output.Write(events, notices))
		p.done(b)
	}
}

// next returns what is to be written, with what is missing before it.
func (p *pump) next() (b *batch, lost *agent.Notice, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		if p.ended && p.missed > 0 {
			lost = p.loss()
		}
		return nil, lost, !p.ended
	}
	b = p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	p.bytes -= b.bytes
	if p.missed > 0 {
		lost = p.loss()
	}
	return b, lost, true
}

// last writes the last notice, if there is one.
func (p *pump) last(n *agent.Notice) error {
	if n == nil {
		return nil
	}
	return p.output.Write(nil, []*agent.Notice{n})
}

func (p *pump) loss() *agent.Notice {
	n := p.tell(agent.Notice{
		Kind: agent.NoticeLost, Time: p.now(), Since: p.since.UTC(), Count: p.missed,
		Reason: "this output was too slow, or failed",
	})
	p.missed = 0
	return n
}

func (p *pump) fail(events int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.missed == 0 {
		p.since = p.now()
	}
	p.missed += events
	p.status.Error = fmt.Sprint(err)
}

func (p *pump) wrote(b *batch, err error) {
	if err != nil {
		p.fail(int64(len(b.events)), err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.status.Missed += int64(len(b.events))
		return
	}
	p.status.Error = ""
	p.status.Events += int64(len(b.events))
	p.status.Notices += int64(len(b.notices))
}

func (p *pump) state() OutputStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Waiting = p.bytes
	return s
}
