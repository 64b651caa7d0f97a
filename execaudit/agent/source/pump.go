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
	paid   func() // after the last debt

	mu     sync.Mutex
	wake   chan struct{} // holds one
	queue  []*batch
	bytes  int
	ended  bool
	debt   debt
	owed   int64 // events of the debt, and of one that is being written
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

// miss notes what the output does not have. It is called with the lock held.
func (p *pump) miss(b *batch) {
	p.owed += p.debt.add(b.events, b.notices, p.now())
	p.status.Missed += int64(len(b.events))
}

// owes returns how many events the output misses without having been told so.
func (p *pump) owes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owed
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
		b, d, more := p.next()
		err := p.pay(d)
		if !more {
			p.paid()
			return errors.Join(err, p.output.Close())
		}
		if b == nil {
			<-p.wake
			continue
		}
		p.wrote(b, p.output.Write(b.events, b.notices))
		p.done(b)
	}
}

// next returns what is to be written, with what is missing before it.
func (p *pump) next() (b *batch, d debt, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 {
		b = p.queue[0]
		p.queue[0] = nil
		p.queue = p.queue[1:]
		p.bytes -= b.bytes
	}
	if b != nil || p.ended {
		d, p.debt = p.debt, debt{}
	}
	return b, d, b != nil || !p.ended
}

// pay tells the output what it misses. What it refuses is still missing.
func (p *pump) pay(d debt) error {
	if d.none() {
		return nil
	}
	notices := d.notices
	if lost := d.loss(); lost != nil {
		lost.Time = p.now()
		notices = append([]*agent.Notice{p.tell(*lost)}, notices...)
	}
	err := p.output.Write(nil, notices)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.debt.take(d)
		p.status.Error = fmt.Sprint(err)
		return err
	}
	p.owed -= d.events
	return nil
}

func (p *pump) wrote(b *batch, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.miss(b)
		p.status.Error = fmt.Sprint(err)
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
