package source_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

// written is an Output that makes the lines and drops them.
type written struct {
	line  []byte
	lines int
}

func (w *written) Write(events []*agent.Event, notices []*agent.Notice) error {
	for _, e := range events {
		w.line = e.AppendLine(w.line[:0])
	}
	for _, n := range notices {
		w.line = n.AppendLine(w.line[:0])
	}
	w.lines += len(events)
	return nil
}

func (w *written) Close() error { return nil }

const environment = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\x00HOSTNAME=web-0\x00KUBERNETES_SERVICE_HOST=10.0.0.1\x00" +
	"KUBERNETES_EXEC_AUDIT_ID=f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8\x00HOME=/root\x00TERM=xterm\x00"

// recording returns the fork, exec and exit of n processes in 100 sessions, and the records of these.
func recording(n int, ends bool) (observations []agent.Observation, records []journal.Record) {
	const sessions = 100
	for mark := range uint32(sessions) {
		records = append(records, marked(fmt.Sprint("e", mark), mark+1))
	}
	kinds := []agent.Kind{agent.KindFork, agent.KindExec, agent.KindExit}
	if !ends {
		kinds = kinds[:2]
	}
	for i := range n {
		for _, kind := range kinds {
			o := observation(kind, uint32(i%sessions)+1, i%(1<<20)+10)
			o.CPU, o.Sequence, o.Parent = 0, uint64(i+1), agent.Task{PID: 9, Start: time.Second}
			if kind == agent.KindExec {
				o.File = "/usr/bin/curl"
				o.Args = redact.NewBytes([]byte("curl\x00-sS\x00-H\x00Authorization: Bearer abcdefgh\x00--retry\x003\x00https://example.com/api/v1/things?page=7\x00"))
				o.Env = redact.NewBytes([]byte(environment))
			}
			observations = append(observations, o)
		}
	}
	return observations, records
}

// replay runs a recording through a Source. The records wait for the journal.
func replay(tb testing.TB, o source.Options, observations []agent.Observation,
	records []journal.Record,
) *source.Source {
	tb.Helper()
	o.Node, o.BootID, o.NoWalk, o.Reader = "n1", boot, true, source.NewRecording(observations)
	o.Waiting = func() ([]journal.Record, error) { return records, nil }
	s, err := source.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// BenchmarkSource is what reading, joining and encoding cost: fork, exec and exit of a process each.
func BenchmarkSource(b *testing.B) {
	for _, c := range []struct {
		name    string
		args    agent.ArgsMode
		answers bool
	}{{"redact", agent.ArgsRedact, false}, {"keep", agent.ArgsKeep, false}, {
		"redact and answers", agent.ArgsRedact,
		true,
	}} {
		b.Run(c.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			observations, records := recording(b.N, true)
			out := &written{}
			o := source.Options{
				Outputs: []source.Output{out}, Tracker: agent.Options{Args: agent.ArgsPolicy{Mode: c.args}},
				QueueBytes: 1 << 40,
			}
			answers := 0
			if c.answers {
				o.Answers = func(*attribution.Answer) { answers++ }
			}
			b.ReportAllocs()
			b.ResetTimer()
			replay(b, o, observations, records)
			b.StopTimer()
			if out.lines != len(observations) {
				b.Fatalf("%d lines of %d", out.lines, len(observations))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "execs/s")
			b.ReportMetric(float64(len(observations))/b.Elapsed().Seconds(), "records/s")
		})
	}
}
