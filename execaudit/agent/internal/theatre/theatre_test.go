//go:build linux

package theatre_test

import (
	"errors"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

func TestTruth(t *testing.T) {
	const rounds = 2
	stage := theatre.Open(t, 4*rounds*theatre.ProcessesPerRound+100)
	container := theatre.NewContainer(t)
	plans := []theatre.Plan{
		{LoginUID: agent.MinLoginUID + 7, Container: container},
		{LoginUID: agent.MaxLoginUID, Container: container, Early: true},
		{Container: container},
		{LoginUID: 1000},
	}
	for i := range plans {
		plans[i].Rounds = rounds
	}
	sessions, err := stage.Play(plans, len(plans), theatre.Cues{})
	if err != nil {
		t.Fatal(err)
	}
	records, err := stage.Records()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range sessions {
		if unmarked := plans[i].LoginUID == 0; unmarked != (s.SessionID == theatre.Unmarked) {
			t.Errorf("a starter that takes %d is of session %d", plans[i].LoginUID, s.SessionID)
		}
		if f := lives(t, records, s); f != rounds*theatre.ProcessesPerRound+2 {
			t.Errorf("session %d has %d processes, want %d", i, f, rounds*theatre.ProcessesPerRound+2)
		}
	}
}

// lives checks that each process of the session came once and went once, after all that it ran, and returns how many
// there were without the starter.
func lives(t *testing.T, records []theatre.Record, s *theatre.Session) int {
	t.Helper()
	born, ended, nonces := map[theatre.Task]theatre.Task{}, map[theatre.Task]int{}, map[uint64]bool{}
	for _, r := range records {
		switch {
		case r.SessionID != s.SessionID:
			continue
		case r.Kind == agent.KindFork:
			born[r.Task] = r.Parent
		case r.Kind == agent.KindExec && (nonces[r.Nonce] || r.Nonce == 0):
			t.Errorf("two execs have the number %d", r.Nonce)
		case r.Kind == agent.KindExec:
			nonces[r.Nonce] = true
		case r.Kind == agent.KindExit:
			ended[r.Task]++
		}
	}
	for task, parent := range born {
		if _, ok := born[parent]; !ok && parent != s.Starter {
			t.Errorf("%+v has the parent %+v, who is not of the session", task, parent)
		}
		if ended[task] != 1 {
			t.Errorf("%+v ended %d times", task, ended[task])
		}
	}
	if ended[s.Starter] != 1 || len(ended) != len(born)+1 {
		t.Errorf("%d processes came, %d went", len(born)+1, len(ended))
	}
	return len(born)
}

func TestLeave(t *testing.T) {
	stage := theatre.Open(t, 100)
	sessions, err := stage.Play([]theatre.Plan{{LoginUID: 1000, Leave: 1001}}, 1, theatre.Cues{})
	if err != nil {
		t.Fatal(err)
	}
	records, err := stage.Records()
	if err != nil {
		t.Fatal(err)
	}
	left := map[uint32][]agent.Kind{}
	for _, r := range records {
		if r.SessionID != sessions[0].SessionID {
			left[r.SessionID] = append(left[r.SessionID], r.Kind)
		}
	}
	if len(left) != 2 {
		t.Fatalf("two processes left to %v", left)
	}
	for id, kinds := range left {
		if n := len(kinds); n != 2 && n != 4 || kinds[n-1] != agent.KindExit {
			t.Errorf("session %d has %v", id, kinds)
		}
	}
}

func TestCompare(t *testing.T) {
	fork := func(pid int) theatre.Fact { return theatre.Fact{Task: theatre.Task{PID: pid}} }
	missing, invented := theatre.Compare([]theatre.Fact{fork(1), fork(2), fork(2), fork(3)},
		[]theatre.Fact{fork(2), fork(4), fork(3), fork(3)})
	if len(missing) != 2 || missing[0] != fork(1) || missing[1] != fork(2) {
		t.Errorf("missing %+v", missing)
	}
	if len(invented) != 2 || invented[0] != fork(4) || invented[1] != fork(3) {
		t.Errorf("invented %+v", invented)
	}
}

func TestRecycle(t *testing.T) {
	stage := theatre.Open(t, 10*theatre.ProcessesPerRound)
	stop := theatre.Recycle(t)
	session, err := stage.Start(theatre.Plan{Rounds: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(session.Go(), session.Wait()); err != nil {
		t.Fatal(err)
	}
	stop()
	records, err := stage.Records()
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[int]int{}
	for _, f := range theatre.Facts(records, func(r theatre.Record) bool { return r.Kind == agent.KindFork }) {
		numbers[f.PID]++
	}
	if came := 8*theatre.ProcessesPerRound + 2; len(numbers) == came {
		t.Errorf("%d processes have %d numbers", came, len(numbers))
	}
}
