//go:build linux

package source_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// hold is how long the tests have an event wait for its record.
const hold = 300 * time.Millisecond

// TestForged has marks that the journal does not have, has late, twice, or of another boot.
func TestForged(t *testing.T) {
	for _, c := range []struct {
		name string
		// write is what the journal gets before the session goes on, ended when it is over.
		write, ended     func(s *stand, play *theatre.Session) []journal.Record
		forged, conflict int
		own              bool // the events are the session's
	}{
		{name: "AGT-1 a mark that no record has is forged, once", forged: 1},
		{
			name: "AGT-1 a record that comes too late does not take the notice back", forged: 1,
			ended: func(s *stand, play *theatre.Session) []journal.Record { return []journal.Record{s.intent(play)} },
		},
		{
			name: "AGT-1 a start that has the mark, without an intent that has it, is no evidence", forged: 1,
			write: func(s *stand, play *theatre.Session) []journal.Record {
				return []journal.Record{
					journal.Intent(s.session(play), []string{"player"}, false, time.Now()),
					journal.Start(s.session(play), s.process(play, play.Starter), time.Now()),
				}
			},
		},
		{
			name: "AGT-1 a record of another boot is not of this mark", forged: 1,
			write: func(s *stand, play *theatre.Session) []journal.Record {
				r := s.intent(play)
				r.BootID = "00000000-0000-4000-8000-000000000000"
				return []journal.Record{r}
			},
		},
		{
			name: "AGT-1 a record with another login UID is not of this mark", forged: 1,
			write: func(s *stand, play *theatre.Session) []journal.Record {
				r := s.intent(play)
				r.LoginUID++
				return []journal.Record{r}
			},
		},
		{
			name: "AGT-1 of two sessions with one mark neither is believed", conflict: 1,
			write: func(s *stand, play *theatre.Session) []journal.Record {
				one, other := s.intent(play), s.intent(play)
				other.ExecID = "exec-other"
				return []journal.Record{one, other}
			},
		},
		{
			name: "AGT-3 the same record twice is one", own: true,
			write: func(s *stand, play *theatre.Session) []journal.Record {
				return []journal.Record{s.intent(play), s.intent(play)}
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t, 10*theatre.ProcessesPerRound)
			reader := s.open(t, bpf.Options{})
			defer reader.Close()
			out := newSink(s)
			o := s.options(reader, out)
			o.Tracker.Hold, o.NoWalk = hold, true
			src, end := watch(t, o)
			out.await(t, "a start", func() bool { return out.count(agent.NoticeStart) == 1 })
			appendAll := func(f func(*stand, *theatre.Session) []journal.Record) func(int, *theatre.Session) error {
				return func(_ int, play *theatre.Session) error {
					if f == nil {
						return nil
					}
					for _, r := range f(s, play) {
						if err := s.journal.Append(r); err != nil {
							return err
						}
					}
					// What the agent does not know yet it cannot tell.
					want := c.conflict * 2
					return out.awaited(func() bool { return src.Status().Journals[0].Records >= int64(want) })
				}
			}
			marked := func(i int, play *theatre.Session) error {
				if c.own {
					s.expect(play)
				}
				return appendAll(c.write)(i, play)
			}
			ended := func(i int, play *theatre.Session) error {
				if c.forged > 0 {
					if err := out.awaited(func() bool { return out.count(agent.NoticeForged) > 0 }); err != nil {
						return err
					}
				}
				return appendAll(c.ended)(i, play)
			}
			plans := []theatre.Plan{{LoginUID: s.logins, Rounds: 1, Container: s.containers[0]}}
			sessions, err := s.Play(plans, 1, theatre.Cues{Marked: marked, Ended: ended})
			if err != nil {
				t.Fatal(err)
			}
			end()
			records, err := s.Records()
			if err != nil {
				t.Fatal(err)
			}
			missing, invented := theatre.Compare(theatre.Facts(records, all), out.told)
			if len(missing) > 0 || len(invented) > 0 {
				t.Errorf("%d facts are missing, %d invented", len(missing), len(invented))
			}
			if len(out.wrong) > 0 {
				t.Errorf("%d events are wrong; the first: %s", len(out.wrong), out.wrong[0])
			}
			if f, n := out.count(agent.NoticeForged), out.count(agent.NoticeConflict); f != c.forged || n != c.conflict {
				t.Errorf("%d marks told as forged, %d as of two; want %d, %d", f, n, c.forged, c.conflict)
			}
			if c.forged > 0 {
				n := out.first(agent.NoticeForged)
				if n.SessionID != sessions[0].SessionID || n.LoginUID != s.logins || n.Process.PID == 0 {
					t.Errorf("notice %+v of session %+v", n, sessions[0])
				}
			}
		})
	}
}

// first returns the first notice of the kind.
func (k *sink) first(kind agent.NoticeKind) (n agent.Notice) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.notices, func(n agent.Notice) bool { return n.Kind == kind }); i >= 0 {
		n = k.notices[i]
	}
	return n
}

// TestLate has the record come while the session runs: before the time is over its events are the session's.
func TestLate(t *testing.T) {
	t.Run("AGT-3 events wait for a record that is late", func(t *testing.T) {
		s := newStand(t, 10*theatre.ProcessesPerRound)
		reader := s.open(t, bpf.Options{})
		defer reader.Close()
		out := newSink(s)
		o := s.options(reader, out)
		o.Tracker.Hold = time.Minute
		_, end := watch(t, o)
		out.await(t, "a start", func() bool { return out.count(agent.NoticeStart) == 1 })
		plans := []theatre.Plan{{LoginUID: s.logins, Rounds: 1, Container: s.containers[0]}}
		_, err := s.Play(plans, 1, theatre.Cues{Ended: func(_ int, play *theatre.Session) error {
			s.expect(play)
			return s.journal.Append(s.intent(play))
		}})
		if err != nil {
			t.Fatal(err)
		}
		marked, others := s.records(t)
		out.await(t, "the events", func() bool {
			out.mu.Lock()
			defer out.mu.Unlock()
			return len(out.told) >= len(marked)
		})
		end()
		judge(t, out, marked, others, true)
	})
	t.Run("AGT-3 a record that waits in the spool is one", func(t *testing.T) {
		s := newStand(t, 10*theatre.ProcessesPerRound)
		reader := s.open(t, bpf.Options{})
		defer reader.Close()
		out := newSink(s)
		o := s.options(reader, out)
		o.Tracker.Hold = time.Minute
		var mu sync.Mutex
		var spool []journal.Record
		o.Waiting = func() ([]journal.Record, error) {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(spool), nil
		}
		_, end := watch(t, o)
		out.await(t, "a start", func() bool { return out.count(agent.NoticeStart) == 1 })
		plans := []theatre.Plan{{LoginUID: s.logins, Rounds: 1, Container: s.containers[0]}}
		_, err := s.Play(plans, 1, theatre.Cues{Marked: func(_ int, play *theatre.Session) error {
			s.expect(play)
			mu.Lock()
			defer mu.Unlock()
			spool = append(spool, s.intent(play))
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		marked, others := s.records(t)
		end()
		judge(t, out, marked, others, true)
	})
}

// TestLeave has processes of a session take another mark.
func TestLeave(t *testing.T) {
	for _, c := range []struct {
		name   string
		within bool
		forged int
	}{
		{"AGT-1 a process that takes another mark of the range: said, and the mark is forged", true, 2},
		{"AGT-1 a process that leaves for a mark outside the range is told of no more", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t, 10*theatre.ProcessesPerRound)
			reader := s.open(t, bpf.Options{})
			defer reader.Close()
			out := newSink(s)
			o := s.options(reader, out)
			o.Tracker.Hold, o.NoWalk = hold, true
			_, end := watch(t, o)
			out.await(t, "a start", func() bool { return out.count(agent.NoticeStart) == 1 })
			plan := theatre.Plan{LoginUID: s.logins, Rounds: 1, Container: s.containers[0], Leave: 1000}
			if c.within {
				plan.Leave = s.logins + 1
			}
			plans := []theatre.Plan{plan}
			cues := s.cues(plans)
			sessions, err := s.Play(plans, 1, cues)
			if err != nil {
				t.Fatal(err)
			}
			out.await(t, "the notices", func() bool { return out.count(agent.NoticeForged) >= c.forged })
			end()
			records, err := s.Records()
			if err != nil {
				t.Fatal(err)
			}
			facts := theatre.Facts(records, func(r theatre.Record) bool {
				return c.within || r.SessionID == sessions[0].SessionID
			})
			missing, invented := theatre.Compare(facts, out.told)
			if len(missing) > 0 || len(invented) > 0 || len(out.wrong) > 0 {
				t.Errorf("missing %+v, invented %+v, wrong %v", missing, invented, out.wrong)
			}
			want := 0
			if c.within {
				want = 2
			}
			if f, l := out.count(agent.NoticeForged), out.count(agent.NoticeLeft); f != c.forged || l != want {
				t.Errorf("%d marks told as forged, %d as left; want %d, %d", f, l, c.forged, want)
			}
		})
	}
}
