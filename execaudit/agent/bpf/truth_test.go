//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

// The theatre's processes come by fork, vfork, posix_spawn, clone3 and CLONE_PARENT, from threads as well; they execute
// programs from a thread that is not the first; they go by exit, by signal, and after their first thread.
func TestTruth(t *testing.T) {
	const rounds = 2
	for _, kind := range kinds {
		t.Run("AGT-1 what is told is what happened"+kind.name, func(t *testing.T) {
			w := loadBy(t, kind.load, bpf.Options{Raw: kind.raw})
			stage := theatre.Open(t, 2*(rounds*theatre.ProcessesPerRound+10))
			container := theatre.NewContainer(t)
			plans := []theatre.Plan{
				{LoginUID: w.uid, Rounds: rounds, Container: container},
				{LoginUID: w.uid, Rounds: rounds, Container: container, Early: true},
			}
			sessions, err := stage.Play(plans, len(plans), theatre.Cues{})
			if err != nil {
				t.Fatal(err)
			}
			records, err := stage.Records()
			if err != nil {
				t.Fatal(err)
			}
			var got, want []theatre.Fact
			for _, r := range records {
				if !kind.inner && r.InnerPID != r.PID {
					r.InnerPID = 0
				}
				if r.SessionID == sessions[0].SessionID || r.SessionID == sessions[1].SessionID {
					want = append(want, r.Fact)
				}
			}
			for _, o := range w.drain() {
				f := theatre.Told(&o)
				got = append(got, f)
				if o.LoginUID != w.uid {
					t.Errorf("%+v has the login UID %d, want %d", f, o.LoginUID, w.uid)
				}
			}
			compare(t, got, want)
			if c, err := w.Counters(); err != nil || c.Seen < uint64(len(want)) || c.Lost() != 0 {
				t.Errorf("counters are %+v, %v, want %d seen", c, err, len(want))
			}
		})
	}
}

// compare tells which facts were told and did not happen, and the other way round. Each counts once.
func compare(t *testing.T, got, want []theatre.Fact) {
	t.Helper()
	count := map[theatre.Fact]int{}
	for _, f := range got {
		count[f]++
	}
	for _, f := range want {
		count[f]--
	}
	var wrong []theatre.Fact
	for f, n := range count {
		if n != 0 {
			wrong = append(wrong, f)
		}
	}
	slices.SortFunc(wrong, func(a, b theatre.Fact) int { return cmp.Compare(a.PID, b.PID) })
	for _, f := range wrong[:min(len(wrong), 20)] {
		t.Errorf("told %+d times more than it happened: %+v", count[f], f)
	}
	t.Logf("%d facts told, %d happened, %d differ", len(got), len(want), len(wrong))
}
