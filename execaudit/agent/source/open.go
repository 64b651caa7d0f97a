package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
)

// Mode is which reader is opened.
type Mode string

// The modes.
const (
	// ModeAuto: the kernel's programs or, where they cannot be loaded, the proc connector.
	ModeAuto Mode = "auto"
	// ModeBPF: the programs or nothing.
	ModeBPF Mode = "bpf"
	// ModeConnector: the proc connector.
	ModeConnector Mode = "connector"
)

// Opened is a reader of this node's kernel.
type Opened struct {
	Reader
	io.Closer
	// Origin and Blind are as in Options.
	Origin agent.Origin
	Blind  []string
	// Programs are the kernel's, nil with the connector. What they count and cost may be asked after Run.
	Programs *bpf.Programs
}

// Open opens a reader as the mode says; "" is ModeAuto. The caller closes it after Run. The error joins those of each
// that was tried.
func Open(mode Mode, b bpf.Options, c connector.Options) (*Opened, error) {
	var refused error
	if mode != ModeConnector {
		p, err := bpf.Load(b)
		if err == nil {
			r := newPrograms(p)
			return &Opened{Reader: r, Closer: r, Origin: agent.OriginKernel, Programs: p}, nil
		}
		refused = fmt.Errorf("eBPF: %w", err)
		if mode == ModeBPF || errors.Is(err, bpf.ErrInUse) {
			return nil, refused
		}
	}
	r, err := connector.Open(c)
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	o := &Opened{Origin: agent.OriginConnector, Closer: r, Reader: connected{r}, Blind: r.Blind()}
	if refused != nil {
		o.Blind = append([]string{"what is told comes from the proc connector: " + refused.Error()}, o.Blind...)
	}
	return o, nil
}

// programs is a Reader of the kernel's programs, which are for one goroutine but for Interrupt.
type programs struct {
	p *bpf.Programs
	// positions are behind each observation that was read after the first freed ones.
	positions []uint64
	freed     uint64
	// toldLost of those that were lost had been told before; noted is how many the next reader will find told.
	toldLost, noted uint64
	counted         time.Time

	mu       sync.Mutex
	told     uint64 // of the observations that were read
	lost     int64
	counters Counters
	trouble  error
}

func newPrograms(p *bpf.Programs) *programs {
	r := &programs{p: p}
	c, err := p.Counters()
	r.toldLost, r.noted, r.trouble = c.LostTold, c.LostTold, err
	return r
}

// pause is how long a Read waits at most until it frees what was told.
const pause = 50 * time.Millisecond

func (r *programs) Read(o *agent.Observation) error {
	for {
		now := time.Now()
		if now.Sub(r.counted) >= countEvery/2 {
			r.counted = now
			r.count()
		}
		r.free()
		r.p.SetDeadline(now.Add(pause))
		err := r.p.Read(o)
		switch {
		case err == nil:
			r.positions = append(r.positions, r.p.Position())
			return nil
		case errors.Is(err, bpf.ErrInterrupted):
			r.count()
			return ErrInterrupted
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
}

// free gives the kernel the room of what was told.
func (r *programs) free() {
	r.mu.Lock()
	n, lost := min(r.told-r.freed, uint64(len(r.positions))), r.toldLost+uint64(r.lost)
	r.mu.Unlock()
	if n > 0 {
		r.p.Told(r.positions[n-1], lost)
		r.positions = r.positions[:copy(r.positions, r.positions[n:])]
		r.freed += n
	} else if r.noted != lost {
		r.p.Told(0, lost) // a position from before frees nothing
	}
	r.noted = lost
}

func (r *programs) count() {
	c, err := r.p.Counters()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble = err; err == nil {
		r.counters.Lost = int64(c.Lost() - r.toldLost)
	}
}

func (r *programs) Interrupt() { r.p.Interrupt() }

func (r *programs) Told(n uint64, lost int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told, r.lost = n, lost
	return nil
}

func (r *programs) Counters() (Counters, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counters, r.trouble
}

func (r *programs) Close() error {
	r.free()
	return r.p.Close()
}

// connected is a Reader of the proc connector.
type connected struct{ r *connector.Reader }

func (c connected) Read(o *agent.Observation) error {
	err := c.r.Read(o)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		return ErrInterrupted
	}
	return err
}

func (c connected) Interrupt() { c.r.Interrupt() }

func (c connected) Told(uint64, int64) error { return nil }

func (c connected) Counters() (Counters, error) {
	n := c.r.Counters()
	return Counters{Lost: int64(n.Gone + n.Forgotten), Gaps: int64(n.Overruns)}, nil
}
