//go:build linux

package source_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

// TestRestart has sessions before, between and after two agents.
func TestRestart(t *testing.T) {
	for _, c := range []struct {
		name   string
		pinned bool
	}{
		{"AGT-2 with pins, what happens between two agents is told by the second", true},
		{"AGT-2 without pins, it is not told, and nothing else is missing", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t, 20*theatre.ProcessesPerRound)
			options := bpf.Options{}
			if c.pinned {
				options.PinDir = pinDir(t)
			}
			out := newSink(s)
			play := func() []*theatre.Session {
				t.Helper()
				plans := s.plans(2, 1)
				sessions, err := s.Play(plans, len(plans), s.cues(plans))
				if err != nil {
					t.Fatal(err)
				}
				return sessions
			}
			watched := func(f func()) {
				t.Helper()
				reader := s.open(t, options)
				before := out.count(agent.NoticeStart)
				_, end := watch(t, s.options(reader, out))
				out.await(t, "a start", func() bool { return out.count(agent.NoticeStart) > before })
				f()
				end()
				if err := reader.Close(); err != nil {
					t.Fatal(err)
				}
			}
			watched(func() { play() })
			between := play()
			watched(func() { play() })
			marked, others := s.records(t)
			if !c.pinned {
				marked = slices.DeleteFunc(marked, func(r theatre.Record) bool {
					return slices.ContainsFunc(between, func(b *theatre.Session) bool { return b.SessionID == r.SessionID })
				})
			}
			judge(t, out, marked, others, true)
			if n, unknown := out.lost(); n != 0 || unknown {
				t.Errorf("%d are told to be lost, unknown %v", n, unknown)
			}
		})
	}
}

// TestWalk has a session begin before the agent does.
func TestWalk(t *testing.T) {
	t.Run("AGT-1 a process that ran before the agent is found, and labelled as found", func(t *testing.T) {
		s := newStand(t, 10*theatre.ProcessesPerRound)
		play, err := s.Start(theatre.Plan{LoginUID: s.logins, Rounds: 1, Container: s.containers[0]})
		if err != nil {
			t.Fatal(err)
		}
		ordinary, err := s.Start(theatre.Plan{LoginUID: 1000})
		if err != nil {
			t.Fatal(err)
		}
		s.expect(play)
		if err := s.journal.Append(s.intent(play)); err != nil {
			t.Fatal(err)
		}
		reader := s.open(t, bpf.Options{})
		defer reader.Close()
		out := newSink(s)
		_, end := watch(t, s.options(reader, out))
		out.await(t, "the starter", func() bool {
			out.mu.Lock()
			defer out.mu.Unlock()
			return len(out.walked) > 0
		})
		if err := errors.Join(play.Go(), play.Wait(), ordinary.Stop()); err != nil {
			t.Fatal(err)
		}
		end()
		marked, others := s.records(t)
		if !slices.Equal(out.walked, []theatre.Task{play.Starter}) {
			t.Errorf("found %+v, want %+v", out.walked, play.Starter)
		}
		judge(t, out, marked, others, true)
	})
}
