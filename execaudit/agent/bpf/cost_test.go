//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
)

// maxShare is what the programs may take of the CPU time that a process outside of sessions costs (AGT-5).
const maxShare = 0.01

// cost is what the kernel says that the programs took of each fork, exec and exit together, and what a process costs
// that is made, executes /bin/true and ends, in CPU time of its own and of the shell that makes it.
type cost struct {
	programs, process time.Duration
	each              string
}

func (c cost) share() float64 { return float64(c.programs) / float64(c.process) }

// measure has a shell run so many processes under the kernel's statistics of BPF programs.
func measure(t testing.TB, o bpf.Options, processes int, marked bool) cost {
	t.Helper()
	w := load(t, o)
	defer w.Close()
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		t.Skipf("the kernel's statistics cannot be enabled here: %v", err)
	}
	defer stats.Close()
	before, err := w.Stats()
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.busy(processes)
	if !marked {
		cmd = exec.Command(cmd.Args[1], cmd.Args[2:]...)
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	after, err := w.Stats()
	if err != nil {
		t.Fatal(err)
	}
	c := cost{process: (cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()) / time.Duration(processes)}
	for i, s := range after {
		runs := s.Runs - before[i].Runs
		if runs < uint64(processes) {
			t.Fatalf("%s ran %d times for %d processes", s.Name, runs, processes)
		}
		per := time.Duration((s.RunTimeNS - before[i].RunTimeNS) / runs)
		c.programs += per
		c.each += fmt.Sprintf("%s %d ns, ", s.Name, per.Nanoseconds())
	}
	if counters, err := w.Counters(); err != nil || (counters.Seen != 0) != marked || counters.Lost() != 0 {
		t.Errorf("counters are %+v, %v, of processes that are marked: %v", counters, err, marked)
	}
	return c
}

func TestCost(t *testing.T) {
	for _, kind := range kinds[:2] {
		t.Run("AGT-5 outside of sessions at most 1% of fork, exec and exit"+kind.name, func(t *testing.T) {
			c := measure(t, bpf.Options{Raw: kind.raw}, 500, false)
			t.Logf("%stogether %v of %v: %.4f%%", c.each, c.programs, c.process, 100*c.share())
			if c.share() > maxShare {
				t.Errorf("the programs take %.2f%% of what a process costs, want at most %.0f%%", 100*c.share(), 100*maxShare)
			}
		})
	}
}
