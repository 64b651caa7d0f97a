//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
)

func TestFullRing(t *testing.T) {
	for _, kind := range kinds[:2] {
		t.Run("AGT-2 what does not fit is counted, one by one"+kind.name, func(t *testing.T) {
			w := load(t, bpf.Options{RingBytes: os.Getpagesize(), Raw: kind.raw})
			const processes = 200
			if err := w.busy(processes).Run(); err != nil {
				t.Fatal(err)
			}
			got := w.drain()
			c, err := w.Counters()
			if err != nil {
				t.Fatal(err)
			}
			const happened = 3*processes + 2
			if c.Seen != happened || c.Dropped == 0 || c.Missed != 0 || uint64(len(got))+c.Dropped != happened {
				t.Errorf("%d events read, counters %+v, want %d together", len(got), c, happened)
			}
			// Its space is free again.
			if all := w.run(w.command("/bin/true")); len(all) != 2 {
				t.Errorf("%d events after the loss, want 2", len(all))
			}
		})
	}
	t.Run("AGT-2 what was read and not told keeps its place", func(t *testing.T) {
		w := load(t, bpf.Options{RingBytes: os.Getpagesize()})
		for range 30 {
			if err := w.command("/bin/true", "0123456789").Run(); err != nil {
				t.Fatal(err)
			}
			w.SetDeadline(time.Now().Add(-time.Second))
			for {
				if _, err := w.next(); errors.Is(err, os.ErrDeadlineExceeded) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
		if c, err := w.Counters(); err != nil || c.Dropped == 0 {
			t.Errorf("counters are %+v, %v", c, err)
		}
		w.Told(w.Position()+1, 0) // not read yet
		if all := w.run(w.command("/bin/true")); len(all) != 0 {
			t.Errorf("%d events have room in a full ring", len(all))
		}
	})
}

func TestWaiting(t *testing.T) {
	t.Run("AGT-1 a reader that waits is woken", func(t *testing.T) {
		w := load(t, bpf.Options{})
		w.SetDeadline(time.Now().Add(patience))
		for range 20 {
			cmd := w.command("/bin/true")
			ended := make(chan error, 1)
			go func() { ended <- cmd.Run() }()
			for {
				o, err := w.next()
				if err != nil {
					t.Fatal(err)
				}
				if o.Kind == agent.KindExit {
					break
				}
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("AGT-1 an interrupt ends a Read", func(t *testing.T) {
		w := load(t, bpf.Options{})
		go w.Interrupt()
		var o agent.Observation
		if err := w.Read(&o); !errors.Is(err, bpf.ErrInterrupted) {
			t.Errorf("Read = %v, want %v", err, bpf.ErrInterrupted)
		}
		w.SetDeadline(time.Now().Add(time.Millisecond))
		if err := w.Read(&o); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Read = %v, want %v", err, os.ErrDeadlineExceeded)
		}
	})
	t.Run("AGT-1 other processes are not told", func(t *testing.T) {
		w := load(t, bpf.Options{})
		other := watched{t: t, uid: privateUID()}
		if err := other.command("/bin/true").Run(); err != nil {
			t.Fatal(err)
		}
		if all := w.drain(); len(all) != 0 {
			t.Errorf("told %+v", all)
		}
	})
	t.Run("AGT-1 both ends of the range are told", func(t *testing.T) {
		uid := privateUID()
		w := load(t, bpf.Options{MinLoginUID: uid, MaxLoginUID: uid + 5})
		for i, want := range map[uint32]int{0: 2, 5: 2, 6: 0} {
			w.uid = uid + i
			if all := w.run(w.command("/bin/true")); len(all) != want {
				t.Errorf("told %d events of %d above the first login UID, want %d", len(all), i, want)
			}
		}
	})
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]bpf.Options{
		"a ring that is not a power of two": {RingBytes: 5000},
		"a ring below a page":               {RingBytes: 1024},
		"a ring too large":                  {RingBytes: 2 * bpf.MaxRingBytes},
		"a range that ends before it":       {MinLoginUID: 5, MaxLoginUID: 4},
		"the login UID of no login":         {MinLoginUID: 5, MaxLoginUID: 1<<32 - 1},
		"too many arguments":                {ArgBytes: bpf.MaxStringBytes + 1},
		"a bound below -1":                  {EnvBytes: -2},
	} {
		t.Run("AGT-1 refused: "+name, func(t *testing.T) {
			if p, err := bpf.Load(o); err == nil {
				t.Error(p.Close())
			}
		})
	}
}
