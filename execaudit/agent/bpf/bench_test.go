//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/redact"
)

// BenchmarkDecode is an exec record of usual size.
func BenchmarkDecode(b *testing.B) {
	record := encode(&agent.Observation{
		Kind: agent.KindExec, Task: agent.Task{PID: 4711, Start: time.Hour}, File: "/usr/bin/kubectl",
		Args: redact.NewBytes([]byte("kubectl\x00get\x00pods\x00-A\x00")),
		Env:  redact.NewBytes([]byte(strings.Repeat("NAME=some value\x00", 60))),
	})
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	var o agent.Observation
	for b.Loop() {
		if err := bpf.Decode(record, &o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is the reader's part of live events, which a marked shell has made: three for each process.
func BenchmarkRead(b *testing.B) {
	w := load(b, bpf.Options{RingBytes: 64 << 20})
	var o agent.Observation
	events := 0
	var busy time.Duration
	for b.Loop() {
		b.StopTimer()
		if err := w.busy(1000).Run(); err != nil {
			b.Fatal(err)
		}
		w.SetDeadline(time.Now().Add(-time.Second))
		b.StartTimer()
		began := time.Now()
		for {
			if err := w.Read(&o); errors.Is(err, os.ErrDeadlineExceeded) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			events++
		}
		w.Told(w.Position(), 0)
		busy += time.Since(began)
	}
	b.ReportMetric(float64(busy.Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(events)/busy.Seconds(), "events/s")
}

// BenchmarkPrograms is what the programs take of a process outside of sessions, and of one inside, by the kernel's own
// figures.
func BenchmarkPrograms(b *testing.B) {
	for name, marked := range map[string]bool{"unmarked": false, "marked": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := measure(b, bpf.Options{RingBytes: 64 << 20}, 2000, marked)
				b.Logf("%stogether %v of %v", c.each, c.programs, c.process)
				b.ReportMetric(float64(c.programs.Nanoseconds()), "programs-ns/process")
				b.ReportMetric(float64(c.process.Nanoseconds()), "cpu-ns/process")
				b.ReportMetric(100*c.share(), "%")
			}
		})
	}
}
