//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// tracepoints are the programs' names and where they are put, by agent.Kind.
var tracepoints = [...]struct{ program, tracepoint string }{
	{programsProgProcessFork, "sched_process_fork"},
	{programsProgProcessExec, "sched_process_exec"},
	{programsProgProcessExit, "sched_process_exit"},
}

// place is what a reader leaves for the next one: the map reader of programs.c.
type place struct {
	read          uint64 // the position behind the last record that was read
	lostTold      uint64
	missedBefore  uint64 // by programs that were replaced
	generation    uint64 // of the programs that tell what happens; 0 when none do
	configuration uint64 // a digest of these programs and of all they were told
	allotted      uint64 // the last generation that any programs were loaded with
	waiting       uint64 // 1 while the reader waits to be woken
}

// Programs are the kernel's programs and the one reader of what they tell. Interrupt may be called by any goroutine;
// all else is for one.
type Programs struct {
	maps     map[string]*ebpf.Map
	programs []*ebpf.Program
	links    []link.Link
	raw      bool
	pins     *pins

	ring     *ring
	memory   []byte
	place    *place
	again    uint64 // before this position an earlier reader read
	deadline time.Time
	buffer   []byte
	twice    twice
	closed   bool
}

// Read waits for the next event and returns it in o. Its Args and Env are good until the next Read.
//
// The error is os.ErrDeadlineExceeded after the deadline, ErrInterrupted after Interrupt, and otherwise one after which
// nothing can be read any more. What the ring has comes before the deadline's error.
func (p *Programs) Read(o *agent.Observation) error {
	for {
		record, err := p.ring.read()
		if record == nil && err == nil {
			record, err = p.wait()
		}
		if err != nil {
			return err
		}
		if record == nil {
			continue
		}
		p.buffer = append(p.buffer[:0], record...)
		if err := Decode(p.buffer, o); err != nil {
			return err
		}
		o.Again = p.ring.next <= p.again
		if !o.Again {
			atomic.StoreUint64(&p.place.read, p.ring.next)
		}
		if !p.twice.seen(o, tellingOf(p.buffer, o)) {
			return nil
		}
	}
}

// wait says that the reader waits, returns a record that came before the programs could know, and else waits.
func (p *Programs) wait() (record []byte, err error) {
	atomic.StoreUint64(&p.place.waiting, 1)
	defer atomic.StoreUint64(&p.place.waiting, 0)
	if record, err = p.ring.read(); record == nil && err == nil {
		err = p.ring.wait(p.deadline)
	}
	return record, err
}

// SetDeadline bounds the Reads that follow; the zero time is none.
func (p *Programs) SetDeadline(t time.Time) { p.deadline = t }

// Interrupt has Read return what the ring has by then, and then ErrInterrupted, once. It must not be called after
// Close.
func (p *Programs) Interrupt() { p.ring.interrupt() }

// Position returns where Read is in the ring: a number that grows, kept across readers.
func (p *Programs) Position() uint64 { return p.ring.next }

// Told says that all events before the position are where they shall be, and so are the first lost events
// (Counters.Lost). It frees the ring's space, which without it becomes full. The next reader begins there. A position
// that Read did not come to yet changes nothing.
//
// For events before the position that are nowhere, lost is less by as many, modulo 1<<64: the next reader finds them in
// Lost - LostTold. A kill at any moment makes that number too large, never too small.
func (p *Programs) Told(position, lost uint64) {
	if before := atomic.LoadUint64(&p.place.lostTold); int64(lost-before) < 0 {
		atomic.StoreUint64(&p.place.lostTold, lost)
	}
	p.ring.free(position)
	atomic.StoreUint64(&p.place.lostTold, lost)
}

// Counters returns what the programs saw and what is missing.
func (p *Programs) Counters() (Counters, error) {
	var perCPU []struct{ Sequence, Dropped [len(tracepoints)]uint64 }
	if err := p.maps[programsMapCounters].Lookup(uint32(0), &perCPU); err != nil {
		return Counters{}, fmt.Errorf("counters: %w", err)
	}
	var c Counters
	for _, cpu := range perCPU {
		for kind := range tracepoints {
			c.Seen += cpu.Sequence[kind]
			c.Dropped += cpu.Dropped[kind]
		}
	}
	c.LostTold = atomic.LoadUint64(&p.place.lostTold)
	c.Missed = atomic.LoadUint64(&p.place.missedBefore)
	for _, program := range p.programs {
		stats, err := program.Stats()
		if err != nil {
			return Counters{}, fmt.Errorf("counters: %w", err)
		}
		c.Missed += stats.RecursionMisses
	}
	return c, nil
}

// Stats returns the kernel's figures of fork, exec and exit, in this order.
func (p *Programs) Stats() ([]ProgramStats, error) {
	var all []ProgramStats
	for i, program := range p.programs {
		info, err := program.Info()
		if err != nil {
			return nil, err
		}
		stats, err := program.Stats()
		if err != nil {
			return nil, err
		}
		s := ProgramStats{
			Name: tracepoints[i].program, Runs: stats.RunCount, RunTimeNS: uint64(stats.Runtime.Nanoseconds()),
			Missed: stats.RecursionMisses,
		}
		s.Instructions, _ = info.VerifiedInstructions()
		all = append(all, s)
	}
	return all, nil
}

// Raw says that the programs are those for raw tracepoints.
func (p *Programs) Raw() bool { return p.raw }

// Close ends the reading. What is pinned stays, and goes on to fill the ring; what is not is gone. No Read may run. The
// error of a second Close is os.ErrClosed.
func (p *Programs) Close() error {
	if p.closed {
		return os.ErrClosed
	}
	p.closed = true
	var errs []error
	if p.ring != nil {
		errs = append(errs, p.ring.close())
	}
	if p.memory != nil {
		errs = append(errs, unix.Munmap(p.memory))
	}
	for _, l := range p.links {
		errs = append(errs, l.Close())
	}
	for _, program := range p.programs {
		errs = append(errs, program.Close())
	}
	for _, m := range p.maps {
		errs = append(errs, m.Close())
	}
	if p.pins != nil {
		errs = append(errs, p.pins.close())
	}
	return errors.Join(errs...)
}
