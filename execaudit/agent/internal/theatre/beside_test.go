//go:build linux

package theatre_test

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

// BenchmarkBeside has sessions do as much as the machine can, with the kernel's programs and the proc connector both
// read at the same time. One iteration is some 10,000 processes.
func BenchmarkBeside(b *testing.B) {
	const sessions, rounds = 20, 10
	stage, logins := theatre.Open(b, sessions*rounds*theatre.ProcessesPerRound*b.N+100*b.N), theatre.FreeLogins()
	p, err := bpf.Load(bpf.Options{MinLoginUID: logins, MaxLoginUID: logins + theatre.Logins - 1})
	if err != nil {
		b.Skip(err)
	}
	defer p.Close()
	c, err := connector.Open(connector.Options{MinLoginUID: logins, MaxLoginUID: logins + theatre.Logins - 1})
	if errors.Is(err, connector.ErrUnsupported) || errors.Is(err, unix.EPERM) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	container := theatre.NewContainer(b)
	var plans []theatre.Plan
	for i := range sessions * b.N {
		plans = append(plans, theatre.Plan{LoginUID: logins + uint32(i)%theatre.Logins, Rounds: rounds, Container: container})
	}
	r := read(p)
	var besides []theatre.Fact
	var besideErr error
	var wait sync.WaitGroup
	wait.Go(func() {
		var o agent.Observation
		for {
			if besideErr = c.Read(&o); besideErr != nil {
				return
			}
			besides = append(besides, coarse(theatre.Told(&o)))
		}
	})
	b.ResetTimer()
	if _, err := stage.Play(plans, sessions, theatre.Cues{}); err != nil {
		b.Fatal(err)
	}
	elapsed := b.Elapsed()
	b.StopTimer()
	told := r.end(b)
	c.Interrupt()
	wait.Wait()
	if !errors.Is(besideErr, os.ErrDeadlineExceeded) {
		b.Fatal(besideErr)
	}
	counters, err := p.Counters()
	if err != nil {
		b.Fatal(err)
	}
	records, err := stage.Records()
	if err != nil {
		b.Fatal(err)
	}
	facts := theatre.Facts(records, func(theatre.Record) bool { return true })
	missing, invented := theatre.Compare(facts, told)
	for i := range facts {
		facts[i] = coarse(facts[i])
	}
	missed, wrong := theatre.Compare(facts, besides)
	of := func(n int) float64 { return 100 * float64(n) / float64(len(facts)) }
	b.ReportMetric(float64(len(facts))/(float64(elapsed)/float64(time.Second)), "events/s")
	b.ReportMetric(of(len(missing)), "%missing")
	b.ReportMetric(of(int(counters.Lost())), "%lost-told")
	b.ReportMetric(of(len(invented)), "%invented")
	b.ReportMetric(of(len(missed)), "%connector-missing")
	b.ReportMetric(of(len(wrong)), "%connector-wrong")
	b.Logf("%d facts, kernel %+v; connector %+v", len(facts), counters, c.Counters())
}

// coarse leaves what the connector cannot know for sure: the parent of one that was cloned with CLONE_PARENT, and the
// arguments of a program that ran another at once.
func coarse(f theatre.Fact) theatre.Fact {
	f.Parent, f.InnerPID, f.Nonce, f.Status = theatre.Task{}, 0, 0, 0
	return f
}
