//go:build linux

package proc_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
)

// tree is a session as it may be: the runtime or not, the first process or not, descendants, orphans.
func tree(r *rand.Rand) (tasks []proc.Task, parents map[int]proc.Task, first int) {
	task := func(pid, ppid, levels int, command, cgroup string) proc.Task {
		return proc.Task{PID: pid, PPID: ppid, StartTicks: uint64(pid), Command: command, Levels: levels, Cgroup: cgroup}
	}
	above, initPID := 2, 3
	parents = map[int]proc.Task{2: task(2, 1, 1, "shim", shim), 3: task(3, 2, 2, "init", inside)}
	if r.IntN(2) == 0 { // in the foreground
		runtime := task(10, 2, 1, "runc", shim)
		tasks, above = append(tasks, runtime), 10
		parents[10] = runtime
	}
	if r.IntN(3) > 0 {
		first = 20
		tasks = append(tasks, task(20, above, 2, "sh", inside))
		parents[20] = tasks[len(tasks)-1]
	}
	for pid := 21; pid < 21+r.IntN(6); pid++ {
		parent := initPID
		if len(tasks) > 0 && tasks[len(tasks)-1].Levels == 2 && r.IntN(2) == 0 {
			parent = tasks[len(tasks)-1].PID
		}
		tasks = append(tasks, task(pid, parent, 2, "p"+strconv.Itoa(pid), inside))
		parents[pid] = tasks[len(tasks)-1]
	}
	return tasks, parents, first
}

func TestFirstLaws(t *testing.T) {
	t.Run("BRG-3 the first process is found among any descendants, in any order", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			tasks, parents, want := tree(r)
			before := slices.Clone(tasks)
			s := proc.First(tasks, parents, id)
			got := 0
			if s.First != nil {
				got = s.First.PID
			}
			if got != want || !reflect.DeepEqual(tasks, before) {
				t.Fatalf("First = %d, want %d of %+v", got, want, tasks)
			}
			r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
			if again := proc.First(tasks, parents, id); !reflect.DeepEqual(again.First, s.First) || again.Others != s.Others {
				t.Fatalf("another order, %+v, and %+v before", again, s)
			}
		})
	})
}
