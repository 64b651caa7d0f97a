//go:build linux

package source_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
)

// TestConnectorTruth has the proc connector tell: most is missing, what is told is true, and that is said.
func TestConnectorTruth(t *testing.T) {
	t.Run("AGT-4 with the proc connector what is told is true, and what cannot be known is said", func(t *testing.T) {
		const sessions, rounds = 10, 3
		s := newStand(t, sessions*rounds*theatre.ProcessesPerRound*5/4+1000)
		o := connector.Options{MinLoginUID: s.logins, MaxLoginUID: s.logins + theatre.Logins - 1}
		reader, err := source.Open(source.ModeConnector, bpf.Options{}, o)
		if errors.Is(err, connector.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		out := newSink(s)
		_, end := watch(t, s.options(reader, out))
		plans := s.plans(sessions, rounds)
		play, err := s.Play(plans, len(plans), s.cues(plans))
		if err != nil {
			t.Fatal(err)
		}
		end()
		marked, others := s.records(t)
		facts, told := theatre.Facts(marked, all), out.told
		for i := range facts {
			facts[i] = coarse(facts[i])
		}
		// A starter may be read when it has its mark already, of what it did before it had it.
		told = slices.DeleteFunc(told, func(f theatre.Fact) bool {
			starter := func(p *theatre.Session) bool { return p.Starter == f.Task }
			return f.Kind != agent.KindExit && slices.ContainsFunc(play, starter)
		})
		for i := range told {
			told[i] = coarse(told[i])
		}
		missing, invented := theatre.Compare(facts, told)
		lost, unknown := out.lost()
		t.Logf("%d facts, %d told, %d missing, %d told to be lost", len(facts), len(told), len(missing), lost)
		if len(out.wrong) > 0 {
			t.Errorf("%d events are wrong; the first: %s", len(out.wrong), out.wrong[0])
		}
		if len(invented) > 0 {
			t.Errorf("%d are told that are no facts; the first is %+v", len(invented), invented[0])
		}
		blind := out.count(agent.NoticeBlind)
		if len(missing) > 0 && lost == 0 && !unknown || blind == 0 {
			t.Errorf("%d missing, %d told to be lost, %d notices of what cannot be seen", len(missing), lost, blind)
		}
		notOthers(t, out, marked, others)
	})
}

// coarse leaves what the connector cannot know for sure: the parent of one that was cloned with CLONE_PARENT, and the
// arguments of a program that ran another at once.
func coarse(f theatre.Fact) theatre.Fact {
	f.Parent, f.InnerPID, f.Nonce = theatre.Task{}, 0, 0
	return f
}
