//go:build amd64 || arm64

package bpf

import (
	"encoding/binary"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// exitsKept is how many exits are remembered to find one told twice. The second follows within microseconds.
const exitsKept = 4096

// twice finds events that were told twice. While programs replace others, both tell each event, one right after the
// other on the same CPU. On kernels that do not say which thread is a process's last, two that end together can both
// look so.
type twice struct {
	cpus  [][agent.KindExit + 1]telling
	exits []agent.Task // by PID; nil where the kernel says it
}

type telling struct {
	sequence   uint64
	execs      uint64 // how many times the process executed a program
	generation uint32
	task       agent.Task
}

func newTwice(cpus int, groupDead bool) twice {
	t := twice{cpus: make([][agent.KindExit + 1]telling, cpus)}
	if !groupDead {
		t.exits = make([]agent.Task, exitsKept)
	}
	return t
}

// seen tells whether the observation is a second one, and remembers it.
func (t *twice) seen(o *agent.Observation, now telling) bool {
	if o.CPU >= 0 && o.CPU < len(t.cpus) {
		last := t.cpus[o.CPU][o.Kind]
		t.cpus[o.CPU][o.Kind] = now
		if last.generation != 0 && last.generation != now.generation && last.sequence+1 == now.sequence &&
			last.task == now.task && last.execs == now.execs {
			return true
		}
	}
	if t.exits == nil || o.Kind != agent.KindExit || o.PID < 0 {
		return false
	}
	slot := &t.exits[o.PID%len(t.exits)]
	if *slot == o.Task {
		return true
	}
	*slot = o.Task
	return false
}

// tellingOf returns what tells a record that Decode took from one that two versions of the programs made of the same
// event.
func tellingOf(record []byte, o *agent.Observation) telling {
	return telling{
		sequence: o.Sequence, task: o.Task,
		execs: binary.LittleEndian.Uint64(record[48:]), generation: binary.LittleEndian.Uint32(record[104:]),
	}
}
