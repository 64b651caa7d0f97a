//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
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

// Load attaches the programs, or takes those that an earlier reader left pinned, with what they told since. Programs of
// another version, or with other options, are replaced without a gap.
//
// The error is ErrUnsupported where the kernel has no types or no audit, ErrInUse while another process has PinDir,
// ErrNotBPFFS where PinDir cannot hold pins, and else the kernel's, such as EPERM without CAP_BPF and CAP_PERFMON.
func Load(o Options) (*Programs, error) {
	k, err := thisKernel()
	if err != nil {
		return nil, err
	}
	return loadModes(o, k, k.modes())
}

// loadModes loads the programs in the first of the modes that the kernel takes.
func loadModes(o Options, k kernel, modes []mode) (*Programs, error) {
	if o.Raw {
		modes = modes[len(modes)-1:]
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("memory for the programs: %w", err)
	}
	p := &Programs{}
	if err := p.load(o, k, modes); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Programs) load(o Options, k kernel, modes []mode) (err error) {
	if o.PinDir != "" {
		if p.pins, err = openPins(o.PinDir); err != nil {
			return err
		}
		if p.maps, err = p.pins.maps(); err != nil {
			return err
		}
		if ring := p.maps[programsMapRing]; ring != nil {
			o.RingBytes = int(ring.MaxEntries())
			if err := p.openPlace(); err != nil {
				return err
			}
		}
	}
	if !p.reuse(o, k, modes) {
		var errs []error
		for _, m := range modes {
			if err = p.attach(o, k, m); err == nil {
				break
			}
			errs = append(errs, err)
		}
		if err != nil {
			return errors.Join(errs...)
		}
	}
	if p.pins != nil {
		lost, err := p.pins.retire()
		atomic.AddUint64(&p.place.missedBefore, lost)
		if err != nil {
			return err
		}
	}
	if p.ring, err = openRing(p.maps[programsMapRing]); err != nil {
		return err
	}
	p.again = atomic.LoadUint64(&p.place.read)
	cpus, err := ebpf.PossibleCPU()
	p.twice = newTwice(cpus, k.groupDead)
	return err
}

// reuse takes the pinned programs where they are those that would be loaded.
func (p *Programs) reuse(o Options, k kernel, modes []mode) bool {
	if p.place == nil || p.place.generation == 0 {
		return false
	}
	for _, m := range modes {
		if p.place.configuration != o.configuration(k, m) {
			continue
		}
		programs, links, err := p.pins.generation(p.place.generation)
		if err != nil {
			return false
		}
		p.programs, p.links, p.raw = programs, links, m.raw
		_ = p.pins.removeOthers(p.place.generation)
		return true
	}
	return false
}

// attach loads the programs and attaches them, has them tell what happens instead of those that did before, and removes
// those. An event of that very moment can be told by both; twice knows.
func (p *Programs) attach(o Options, k kernel, m mode) error {
	generation := uint64(1)
	if p.place != nil {
		generation = p.place.allotted + 1
	}
	if p.place != nil && p.pins != nil {
		// What one left that was killed while it did this.
		if err := p.pins.removeOthers(p.place.generation); err != nil {
			return err
		}
	}
	spec, err := o.spec(k, m, uint32(generation))
	if err != nil {
		return err
	}
	c, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{MapReplacements: p.maps})
	if err != nil {
		return fmt.Errorf("load the programs%s: %w", ofKind(m), err)
	}
	defer c.Close()
	if p.place == nil {
		if err := p.takeMaps(c); err != nil {
			return err
		}
	}
	atomic.StoreUint64(&p.place.allotted, generation)
	var programs []*ebpf.Program
	var links []link.Link
	discard := func() {
		for _, l := range links {
			_ = l.Unpin()
			_ = l.Close()
		}
		for _, program := range programs {
			_ = program.Unpin()
			_ = program.Close()
		}
	}
	for _, t := range tracepoints {
		program := c.DetachProgram(t.program)
		programs = append(programs, program)
		var l link.Link
		if m.raw {
			l, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: t.tracepoint, Program: program})
		} else {
			l, err = link.AttachTracing(link.TracingOptions{Program: program, AttachType: ebpf.AttachTraceRawTp})
		}
		if err != nil {
			discard()
			return fmt.Errorf("attach to %s%s: %w", t.tracepoint, ofKind(m), err)
		}
		links = append(links, l)
		if p.pins != nil {
			if err := p.pins.pin(t.program, generation, program, l); err != nil {
				discard()
				return err
			}
		}
	}
	p.programs, p.links, p.raw = programs, links, m.raw
	before := p.place.generation
	atomic.StoreUint64(&p.place.configuration, o.configuration(k, m))
	atomic.StoreUint64(&p.place.generation, generation)
	if p.pins == nil || before == 0 {
		return nil
	}
	missed, err := p.pins.detach(before)
	atomic.AddUint64(&p.place.missedBefore, missed)
	return errors.Join(err, p.pins.removeOthers(generation))
}

func ofKind(m mode) string {
	if m.raw {
		return " (raw tracepoint)"
	}
	return ""
}

// takeMaps keeps the new collection's maps that outlive its programs.
func (p *Programs) takeMaps(c *ebpf.Collection) error {
	p.maps = map[string]*ebpf.Map{}
	for _, name := range keptMaps {
		p.maps[name] = c.DetachMap(name)
	}
	if p.pins != nil {
		if err := p.pins.pinMaps(p.maps); err != nil {
			return err
		}
	}
	return p.openPlace()
}

func (p *Programs) openPlace() (err error) {
	fd := p.maps[programsMapReader].FD()
	p.memory, err = unix.Mmap(fd, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("the reader's place: %w", err)
	}
	p.place = (*place)(unsafe.Pointer(&p.memory[0]))
	return nil
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
func (p *Programs) Told(position, lost uint64) {
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
