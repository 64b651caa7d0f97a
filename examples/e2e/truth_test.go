package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/moves"
	"github.com/lanyard-dev/lanyard/examples/soak"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

const (
	// truthSeed draws the sessions and what is lost of the logs.
	truthSeed = 6035
	// truthBytes hold every event at once.
	truthBytes = 1 << 30 // 1 GiB
)

// truthState is too small for every process.
var truthState = soak.Size(512<<10, 4<<20) // 512 KiB or 4 MiB

// TestTruth plays many overlapping sessions and compares what the logs say of every process with what the processes
// said.
func TestTruth(t *testing.T) {
	c := ownWithoutPods(t, stack.Options{ExecGates: true, Nodes: []stack.Node{{Name: ours}}})
	p := &play{theatre: newTheatre(t, c), all: map[string]*played{}}
	w := p.watch(t)
	p.run(t, draw(truthSeed))
	p.awaitEmpty(t)
	w.finish(t)
	l := newLedger(p.all)
	for act := range truthActs {
		l.read(t, filepath.Join(p.host, actName(act), "reports"))
	}
	everything := attribution.Options{Window: attribution.Forever, MaxBytes: truthBytes, All: true}
	logs := w.unmarked(t)

	name := fmt.Sprintf("ATT-1 ATT-2 ATT-4 ATT-5 ATT-7 ATT-12 every event of %d overlapping sessions has its true user or the right verdict", truthSessions)
	t.Run(name, func(t *testing.T) {
		answers, stats := w.answers(t, everything, logs...)
		l.learn(t, answers)
		sum := l.compare(t, answers, true, byChain)
		t.Logf("seed %d: %d sessions of %d users on %d pods, up to %d open at once", truthSeed, len(p.all), truthUsers, truthPods, p.most)
		t.Logf("%d programs reported, %d of them told of; %d PIDs had processes of several users", len(l.said), len(l.told), l.shared())
		t.Logf("%d events, %d without a whole chain; %d of %d spoofed sessions seen", len(answers), sum.weak, len(sum.spoofs), spoofedSessions)
		t.Logf("%d answers name a user, %d the wrong one; %v", sum.named, sum.wrong, sum.verdicts)
		if len(answers) != stats.Events {
			t.Errorf("%d answers to %d events", len(answers), stats.Events)
		}
		few := len(l.said) < truthSessions*truthDepth || len(l.told) < len(l.said)*3/4 || sum.weak > len(answers)/5
		tame := p.most < truthPods*openPerPod/2 || l.shared() < truthUsers || len(sum.spoofs) < spoofedSessions/2
		if few || tame {
			t.Error("hardly anything was told: the test proves nothing")
		}
	})
	marked := w.logs()
	for name, events := range map[string]lines.Opener{
		"ATT-13 AGT-1 AGT-3 with the mark every event has it, whatever its chain is":                marked[2],
		"ATT-13 AGT-2 with the mark every event has it where a third of the process events is lost": thinned(w.told.Lines),
	} {
		t.Run(name, func(t *testing.T) {
			answers, _ := w.answers(t, everything, marked[0], marked[1], events)
			sum := l.compare(t, answers, true, byMark)
			t.Logf("%d answers, %d name a user, %d the wrong one; %v", len(answers), sum.named, sum.wrong, sum.verdicts)
			if sum.named < len(answers)/2 || sum.foreign > 0 {
				t.Errorf("%d of %d answers name a user, %d are of no session", sum.named, len(answers), sum.foreign)
			}
		})
	}
	for _, lossy := range []struct {
		name    string
		options attribution.Options
		logs    []lines.Opener
		named   bool
	}{
		{"ATT-12 ATT-14 no name at all without the runtime's journal", everything, []lines.Opener{logs[0], p.named(t, moves.Unmarked(w.told.Lines))}, false},
		{"ATT-5 no wrong name where a third of the process events is lost", everything, []lines.Opener{logs[0], logs[1], thinned(moves.Unmarked(w.told.Lines))}, true},
		{fmt.Sprintf("ATT-6 no wrong name in a state of %d KiB", truthState>>10), attribution.Options{Window: attribution.Forever, MaxBytes: truthState}, logs, true},
	} {
		t.Run(lossy.name, func(t *testing.T) {
			answers, stats := w.answers(t, lossy.options, lossy.logs...)
			sum := l.compare(t, answers, false, byChain)
			t.Logf("%d answers, %d name a user, %d the wrong one; %v", len(answers), sum.named, sum.wrong, sum.verdicts)
			if sum.verdicts[attribution.VerdictHint.String()] == 0 || (sum.named > 0) != lossy.named {
				t.Errorf("%d answers name a user, want some: %t; and some hints", sum.named, lossy.named)
			}
			if evicted := stats.EvictedProcesses > 0; evicted != (lossy.options.MaxBytes < truthBytes) {
				t.Errorf("%d processes were evicted", stats.EvictedProcesses)
			}
		})
	}
}

// named are the process events of an agent that knows pods.
func (th *theatre) named(t *testing.T, log []byte) lines.Opener {
	t.Helper()
	for i := range truthPods {
		id := strconv.AppendQuote([]byte(`"containerID":`), th.cluster.containerOf(t, podName(i)))
		log = bytes.ReplaceAll(log, id, fmt.Appendf(id[:len(id):len(id)], `,"namespace":"default","pod":%q`, podName(i)))
	}
	return logText("process events with pods", log)
}

// thinned is a log without a third of its lines.
func thinned(log []byte) lines.Opener {
	r := rand.New(rand.NewPCG(truthSeed, 1))
	var kept []byte
	for line := range bytes.Lines(log) {
		if r.IntN(3) > 0 {
			kept = append(kept, line...)
		}
	}
	return logText("process events, thinned", kept)
}
