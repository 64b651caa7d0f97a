//go:build linux

package source_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

// TestTruth has sessions make processes in every way that the kernel has, and compares what is told with what they say.
func TestTruth(t *testing.T) {
	sessions, rounds := 20, 6
	if full {
		sessions, rounds = 100, 21
	}
	processes := sessions * rounds * theatre.ProcessesPerRound
	for _, c := range []struct {
		name    string
		options bpf.Options
		recycle bool
	}{
		{name: "AGT-1 every process of every session is told, and no other"},
		{name: "AGT-1 also when numbers of processes come round", recycle: true},
		{name: "AGT-1 also by raw tracepoints", options: bpf.Options{Raw: true}},
		{name: "AGT-2 what does not fit into a small ring is counted and told", options: bpf.Options{RingBytes: 64 << 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t, processes*5/4+1000)
			reader := s.open(t, c.options)
			defer reader.Close()
			out := newSink(s)
			_, end := watch(t, s.options(reader, out))
			if c.recycle {
				theatre.Recycle(t)
			}
			began := time.Now()
			plans := s.plans(sessions, rounds)
			if _, err := s.Play(plans, len(plans), s.cues(plans)); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			end()
			marked, others := s.records(t)
			judge(t, out, marked, others, !c.recycle)
			t.Logf("%v for %d events and %d outside", took.Round(time.Millisecond), len(marked), len(others))
		})
	}
}

// judge compares what is told with the truth: nothing invented, nothing of others, each with its session; what is
// missing was told to be.
func judge(t *testing.T, out *sink, marked, others []theatre.Record, unique bool) {
	t.Helper()
	missing, invented := theatre.Compare(theatre.Facts(marked, all), out.told)
	lost, unknown := out.lost()
	t.Logf("%d told, %d missing, %d told to be lost", len(out.told), len(missing), lost)
	if len(out.wrong) > 0 {
		t.Errorf("%d events are wrong; the first: %s", len(out.wrong), out.wrong[0])
	}
	if int64(len(missing)) > lost && !unknown {
		t.Errorf("%d facts are missing, %d were told to be; the first is %+v", len(missing), lost, missing[0])
	}
	if len(invented) > 0 {
		t.Errorf("%d are told that are no facts; the first is %+v", len(invented), invented[0])
	}
	if n := out.count(agent.NoticeForged); n != 0 {
		t.Errorf("%d marks are told as forged", n)
	}
	if unique {
		notOthers(t, out, marked, others)
		roles(t, out, marked)
	}
}

func notOthers(t *testing.T, out *sink, marked, others []theatre.Record) {
	t.Helper()
	outside, twice := map[theatre.Task]bool{}, ambiguous(marked, others)
	for _, r := range others {
		outside[r.Task] = !twice[r.Task]
	}
	for _, f := range out.told {
		if outside[f.Task] {
			t.Errorf("told of a process without a mark: %+v", f)
			return
		}
	}
}

// ambiguous returns the tasks that are two processes: other tests let numbers of processes come round on the whole
// machine, so that a number may be given out again within one tick.
func ambiguous(marked, others []theatre.Record) map[theatre.Task]bool {
	twice, forked, ours := map[theatre.Task]bool{}, map[theatre.Task]bool{}, map[theatre.Task]bool{}
	for _, r := range marked {
		ours[r.Task] = true
		if r.Kind == agent.KindFork {
			twice[r.Task] = forked[r.Task]
			forked[r.Task] = true
		}
	}
	for _, r := range others {
		if ours[r.Task] {
			twice[r.Task] = true
		}
	}
	return twice
}

// roles checks whose each process is told to be. What is the session's is never told as the runtime's own, but for
// forks and exits right after the session's first program was lost, before that shows. The runtime's may be told as the
// session's: where something is missing, and where the start record is read before the events, since by it the first
// process is known to 10 ms only.
func roles(t *testing.T, out *sink, marked []theatre.Record) {
	t.Helper()
	session, known := map[theatre.Task]bool{}, map[theatre.Task]bool{}
	for _, r := range marked {
		known[r.Task] = true
		if r.Kind != agent.KindExit && !r.Runtime {
			session[r.Task] = true
		}
	}
	lost, _ := out.lost()
	runtimes, doubted := 0, 0
	twice := ambiguous(marked, nil)
	for _, r := range marked {
		if twice[r.Task] {
			continue
		}
		role, told := out.roles[r.Fact]
		runtime := r.Runtime
		if r.Kind == agent.KindExit {
			runtime = !session[r.Task]
		}
		if told && runtime {
			runtimes++
		}
		switch {
		case told && !runtime && role == agent.RoleRuntime && (lost == 0 || r.Kind == agent.KindExec):
			t.Errorf("told as the runtime's: %+v of act %q", r.Fact, r.Act)
			return
		case told && runtime && role == agent.RoleSession:
			doubted++
		}
	}
	t.Logf("%d of %d of the runtime's are told as the session's", doubted, runtimes)
	if lost == 0 && doubted > 0 && doubted == runtimes {
		t.Error("the runtime's own are not told from the session's")
	}
	for _, task := range out.walked {
		if !known[task] {
			t.Errorf("found a process that nobody made: %+v", task)
		}
	}
}
