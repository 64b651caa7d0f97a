//go:build amd64 || arm64

package bpf

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

func TestTwice(t *testing.T) {
	// One CPU's events, of which some are told by one version of the programs, some by the other, and some by both.
	t.Run("AGT-2 of each event one is kept, whichever versions tell it", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			twice := newTwice(1, true)
			var sequence [agent.KindExit + 1]uint64
			execs := uint64(0)
			for range rapid.IntRange(0, 200).Draw(t, "events") {
				o := agent.Observation{Kind: agent.KindExec, Task: agent.Task{PID: 1, Start: 1}}
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0: // another process's fork; it does not come again
					o.Kind, o.PID = agent.KindFork, int(sequence[agent.KindFork])+2
				case 1:
					o.PID = 2
					fallthrough
				default:
					execs++
				}
				kept := 0
				for _, generation := range rapid.SampledFrom([][]uint32{{1}, {2}, {1, 2}, {2, 1}}).Draw(t, "generations") {
					sequence[o.Kind]++
					o.Sequence = sequence[o.Kind]
					if !twice.seen(&o, telling{o.Sequence, execs, generation, o.Task}) {
						kept++
					}
				}
				if kept != 1 {
					t.Fatalf("%d of %+v are kept", kept, o)
				}
			}
		})
	})
	t.Run("AGT-2 a process's second exit is left out", func(t *testing.T) {
		twice := newTwice(2, false)
		exit := func(cpu, pid int, sequence uint64) bool {
			o := agent.Observation{Kind: agent.KindExit, CPU: cpu, Sequence: sequence, Task: agent.Task{PID: pid, Start: 5}}
			return twice.seen(&o, telling{sequence: sequence, generation: 1, task: o.Task})
		}
		for i, c := range []struct {
			cpu, pid int
			sequence uint64
			want     bool
		}{{0, 7, 1, false}, {1, 7, 1, true}, {1, 8, 2, false}, {0, 7 + exitsKept, 2, false}, {0, 8, 3, true}} {
			if got := exit(c.cpu, c.pid, c.sequence); got != c.want {
				t.Errorf("exit %d seen before: %v, want %v", i, got, c.want)
			}
		}
	})
}
