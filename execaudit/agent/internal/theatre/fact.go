//go:build linux

package theatre

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// Fact is one thing that one process did. Facts are compared as they are.
type Fact struct {
	Kind agent.Kind
	Task
	SessionID uint32
	// Parent is who called clone, of a fork; InnerPID the new process's PID in its own namespace.
	Parent   Task
	InnerPID int
	// Nonce is an exec's own number, the last argument.
	Nonce uint64
	// Status is an exit's, as wait(2) gives it.
	Status int
}

// Told returns what an observation says.
func Told(o *agent.Observation) Fact {
	f := Fact{Kind: o.Kind, Task: task(o.Task), SessionID: o.SessionID}
	switch o.Kind {
	case agent.KindFork:
		f.Parent, f.InnerPID = task(o.Parent), o.InnerPID
	case agent.KindExec:
		f.Nonce = nonce(o.Args.Reveal())
	case agent.KindExit:
		f.Status = o.Status
	}
	return f
}

// tick is that of /proc/PID/stat.
const tick = 10 * time.Millisecond

func task(t agent.Task) Task { return Task{PID: t.PID, Start: uint64(t.Start / tick)} }

func nonce(args []byte) uint64 {
	args = bytes.TrimSuffix(args, []byte{0})
	n, _ := strconv.ParseUint(string(args[bytes.LastIndexByte(args, 0)+1:]), 10, 64)
	return n
}

// Record is a fact with what else is known of it.
type Record struct {
	Fact
	// Runtime says that it is not yet the session's: it comes before the session's first program. An exit has none.
	Runtime bool
	// Act is the part of the plan, for people.
	Act byte
}

// header is what the truth file begins with.
type header struct{ next, nonce, capacity, reserved uint64 }

func (s *Stage) header() *header { return (*header)(unsafe.Pointer(&s.data[0])) }

// claim returns the number of the next record.
func (s *Stage) claim() uint64 { return atomic.AddUint64(&s.header().next, 1) - 1 }

// Records returns what happened up to now, by time of writing. It is complete once every session was waited for. The
// error says what went wrong on the stage itself.
func (s *Stage) Records() ([]Record, error) {
	n := atomic.LoadUint64(&s.header().next)
	if n > s.header().capacity {
		return nil, fmt.Errorf("the truth has %d records, and room for %d", n, s.header().capacity)
	}
	records := make([]Record, 0, n)
	for i := range n {
		r, err := parse(s.data[headerBytes+i*recordBytes:][:recordBytes])
		if err != nil {
			return nil, fmt.Errorf("record %d of %d: %w", i, n, err)
		}
		records = append(records, r)
	}
	return records, nil
}

func parse(b []byte) (r Record, err error) {
	get := binary.NativeEndian
	r.Task = Task{PID: int(get.Uint32(b[8:])), Start: get.Uint64(b)}
	r.SessionID = get.Uint32(b[12:])
	parent := Task{PID: int(get.Uint32(b[24:])), Start: get.Uint64(b[16:])}
	r.Runtime, r.Act = get.Uint32(b[44:]) == 0, byte(get.Uint32(b[52:]))
	if get.Uint32(b[56:]) != 1 {
		return r, fmt.Errorf("not written to its end")
	}
	switch kind := get.Uint32(b[40:]); kind {
	case kindBorn:
		r.Kind, r.Parent, r.InnerPID = agent.KindFork, parent, int(get.Uint32(b[48:]))
	case kindExec:
		r.Kind, r.Nonce = agent.KindExec, get.Uint64(b[32:])
	case kindExit:
		r.Kind, r.Status, r.Runtime = agent.KindExit, int(int32(get.Uint32(b[48:]))), false
	case kindFault:
		errno := get.Uint32(b[48:])
		return r, fmt.Errorf("process %d could not go on in act %q: %c..., error %d", r.PID, r.Act, parent.PID, errno)
	default:
		return r, fmt.Errorf("kind %d", kind)
	}
	if r.PID == 0 || r.Start == 0 {
		return r, fmt.Errorf("a process without identity in act %q", r.Act)
	}
	return r, nil
}

// Compare returns the facts that were not told, and what was told that is not a fact, each as often as it is so.
func Compare(facts, told []Fact) (missing, invented []Fact) {
	count := make(map[Fact]int, len(facts))
	for _, f := range facts {
		count[f]++
	}
	for _, f := range told {
		if count[f]--; count[f] < 0 {
			invented = append(invented, f)
		}
	}
	for _, f := range facts {
		if count[f] > 0 {
			missing = append(missing, f)
			count[f]--
		}
	}
	return missing, invented
}

// Facts returns the facts of the records that f accepts.
func Facts(records []Record, f func(Record) bool) []Fact {
	var facts []Fact
	for r := range slices.Values(records) {
		if f(r) {
			facts = append(facts, r.Fact)
		}
	}
	return facts
}
