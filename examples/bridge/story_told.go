package bridge

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/moves"
	"github.com/lanyard-dev/lanyard/examples/witness"
	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// watch has the agent watch the pod, where this machine can.
func (s *story) watch() (err error) {
	s.agent, err = witness.Watch(witness.Options{
		Node: s.pod.Spec.NodeName, Journal: s.JournalFile(), Containers: []string{ContainerID(s.pod, "")},
	})
	if errors.Is(err, witness.ErrUnsupported) {
		s.show("(No agent watches: %v.)", err)
		return nil
	}
	return err
}

// awaitForged waits until the agent has told of a mark that no session has.
func (s *story) awaitForged(ctx context.Context, login uint32) error {
	if s.agent == nil {
		return nil
	}
	var told []agent.Notice
	err := kubernetes.Await(ctx, "the agent's word on the forged mark", func(context.Context) (bool, error) {
		told = s.agent.Forged()
		return len(told) > 0, nil
	})
	if err != nil {
		return err
	}
	return s.check(len(told) == 1 && told[0].LoginUID == login, "the node's agent tells it as forged too: process %d", told[0].Process.PID)
}

// told joins what the agent saw from the beginning with who asked, and what the node recorded.
func told() scene {
	return scene{"Who ran what, from the beginning? The agent's events, the node's journal and the audit log", func(_ context.Context, s *story) error {
		if s.agent == nil {
			s.show("Left out: no agent can watch here.")
			return nil
		}
		seen, err := s.agent.End()
		if s.agent = nil; err != nil {
			return err
		}
		answers, err := s.answers(lines.Opener{Name: "the agent's events", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(string(seen.Lines))), nil
		}})
		if err != nil {
			return err
		}
		if err := s.showPrograms(answers); err != nil {
			return err
		}
		s.show("")
		return s.checkPrograms(answers)
	}}
}

func (s *story) answers(events lines.Opener) (answers []attribution.Answer, err error) {
	m := attribution.New(attribution.Options{Window: attribution.Forever}, func(a *attribution.Answer) { answers = append(answers, *a) })
	var sources []*lines.Source
	for _, path := range []string{s.AuditLog(), s.JournalFile()} {
		log := lines.Opener{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
		sources = append(sources, &lines.Source{Files: []lines.Opener{log}})
	}
	var faults []error
	err = join.Files(context.Background(), m, append(sources, &lines.Source{Files: []lines.Opener{events}}), join.Trouble{
		Fault:   func(f *lines.Fault) { faults = append(faults, f) },
		Stopped: func(err error) { faults = append(faults, err) },
	})
	return answers, errors.Join(append(faults, err)...)
}

// showPrograms shows who ran which program.
func (s *story) showPrograms(answers []attribution.Answer) error {
	var text strings.Builder
	table := report.NewTable(&text)
	for i := range answers {
		if answers[i].Event.Kind == attribution.KindExec {
			if err := table.Add(&answers[i]); err != nil {
				return err
			}
		}
	}
	s.quote(text.String())
	return nil
}

func (s *story) checkPrograms(answers []attribution.Answer) error {
	held, left, named := map[string]int{}, 0, map[string]bool{}
	for _, a := range answers {
		if a.Session == nil || a.Event.Kind != attribution.KindExec {
			continue
		}
		user := a.Session.User.Name
		named[user] = true
		if _, way := moves.Truth(a.Event.Command); strings.Contains(a.Event.Command, " hold ") {
			held[user]++
			if way == "sibling" && user == "alice" && a.Verdict == attribution.VerdictCorroborated {
				left++
			}
		}
	}
	return errors.Join(
		s.check(held["alice"] >= 4 && held["bob"] >= 1, "the children of Alice's and Bob's sessions are theirs"),
		s.check(left == 1, "Alice's by CLONE_PARENT, which has no parent in her session, is corroborated as hers"),
		s.check(!named["mallory"] && len(named) == 2, "nobody else is named, whatever a process claims"),
	)
}
