//go:build linux

package source_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// TestAttacks has sessions do what leaves the tree of processes: CLONE_PARENT, double forks, a first process that the
// agent did not see. Each session has a user of its own.
func TestAttacks(t *testing.T) {
	for _, c := range []struct {
		name string
		late bool
	}{
		{"AGT-3 every program of a session is its user's, whoever is its parent", false},
		{"AGT-3 also where nobody saw the session's first process", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rounds = 2
			s := newStand(t, 6*rounds*theatre.ProcessesPerRound+200)
			var mu sync.Mutex
			answers := map[uint64]attribution.Answer{} // by the program's number
			out := newSink(s)
			watch := func() (*source.Source, func()) {
				reader := s.open(t, bpf.Options{})
				o := s.options(reader, out)
				o.Attribution = attribution.Options{Last: true}
				o.Answers = func(a *attribution.Answer) {
					mu.Lock()
					defer mu.Unlock()
					if words := strings.Fields(a.Event.Command); a.Event.Kind == attribution.KindExec && len(words) > 0 {
						nonce, _ := strconv.ParseUint(words[len(words)-1], 10, 64)
						answers[nonce] = *a
					}
				}
				src, end := watch(t, o)
				return src, func() {
					end()
					if err := reader.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			var src *source.Source
			var end func()
			if !c.late {
				src, end = watch()
			}
			plans := s.plans(4, rounds)
			cues := s.cues(plans)
			sessions := make([]*theatre.Session, len(plans))
			do := func(f func(i int, play *theatre.Session) error) {
				t.Helper()
				for i, play := range sessions {
					if err := f(i, play); err != nil {
						t.Fatal(err)
					}
				}
			}
			do(func(i int, _ *theatre.Session) (err error) {
				sessions[i], err = s.Start(plans[i])
				return err
			})
			do(cues.Marked)
			do(func(_ int, play *theatre.Session) error {
				if err := play.Go(); err != nil || !c.late {
					return err
				}
				t.Cleanup(func() { _ = unix.Kill(play.First.PID, unix.SIGCONT) }) // a test that failed
				return unix.Kill(play.First.PID, unix.SIGSTOP)
			})
			do(cues.Begun)
			if c.late {
				src, end = watch()
				out.await(t, "a start", func() bool { return out.count(agent.NoticeStart) == 1 })
			}
			do(func(i int, play *theatre.Session) error {
				if s.marked(plans[i]) {
					src.AddAudit(s.audit(play))
				}
				if !c.late {
					return nil
				}
				return unix.Kill(play.First.PID, unix.SIGCONT)
			})
			do(func(_ int, play *theatre.Session) error { return play.Wait() })
			do(cues.Ended)
			end()
			marked, others := s.records(t)
			missing, invented := theatre.Compare(theatre.Facts(marked, all), out.told)
			if len(invented) > 0 || len(out.wrong) > 0 || !c.late && len(missing) > 0 {
				t.Errorf("%d facts are missing, %d invented, wrong %v", len(missing), len(invented), out.wrong)
			}
			told := map[theatre.Fact]bool{}
			for _, f := range out.told {
				told[f] = true
			}
			programs := 0
			for _, r := range marked {
				if r.Kind != agent.KindExec || r.Runtime || !told[r.Fact] {
					continue
				}
				programs++
				a, want := answers[r.Nonce], "user-"+strconv.Itoa(int(r.SessionID))
				if a.Verdict != attribution.VerdictCorroborated || a.Session.User.Name != want {
					t.Fatalf("%+v of act %q: %v, %v", r.Fact, r.Act, a.Verdict, a.Reason)
				}
			}
			if programs == 0 {
				t.Error("no program was told")
			}
			for _, r := range others {
				if a, ok := answers[r.Nonce]; r.Kind == agent.KindExec && ok {
					t.Errorf("a process of no session has the answer %v", a.Verdict)
				}
			}
			t.Logf("%d programs, each with its user", programs)
		})
	}
}

// audit returns what the API server's audit log has of the session's request.
func (s *stand) audit(play *theatre.Session) *attribution.Audit {
	session := s.session(play)
	return &attribution.Audit{
		AuditID: session.AuditID, Stage: attribution.StageResponseStarted,
		User:      attribution.User{Name: fmt.Sprintf("user-%d", play.SessionID)},
		Namespace: session.Namespace, Pod: session.Pod, Container: session.Container, Command: []string{"player"}, Code: 101,
		Received: time.Now().Add(-time.Second), At: time.Now().Add(-time.Second),
	}
}
