//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

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
