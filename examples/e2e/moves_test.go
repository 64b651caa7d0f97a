package e2e_test

import (
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/moves"
	"github.com/lanyard-dev/lanyard/examples/pids"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// How the attacker's processes come. The last word of their command is the truth, at which nothing that is joined
// looks.
var (
	// honestMoves stay in the tree, whatever they do besides.
	honestMoves = []string{"child", "session", "daemon", "triple", "bare", "daemon,bare"}
	// forgedMoves stay in the tree with another's ID in the environment.
	forgedMoves = []string{"child,as=" + victim, "daemon,as=" + victim, "triple,as=" + victim}
	// outerMoves have a parent outside of the container.
	outerMoves = []string{"sibling", "sibling,bare", "sibling,as=" + victim}
)

// TestMoves has one user's processes try to leave their session for another's.
func TestMoves(t *testing.T) {
	c := common(t)
	p := pod("moves", ours)
	p.Spec.Containers[0].Args = []string{"pause"} // which leaves no zombies, whose PIDs nobody else gets
	if _, err := c.run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	// A process can be gone before the proc connector's reader looks at it. What is wrong then is wrong in each round.
	for round := 1; ; round++ {
		m := playMoves(t, c, p.Name)
		if whole := m.whole(); !whole && round < 5 {
			t.Logf("round %d: not every process was seen", round)
			continue
		}
		m.check(t)
		return
	}
}

// moved is what came of a round.
type moved struct {
	// kernel and connector are the answers from the two readers of the agent, with the kernel's mark; unseen from the
	// first, where nobody saw the sessions' first processes.
	kernel, connector, unseen []attribution.Answer
	// with and without the journal are from the proc connector, whose word on a parent is the kernel's, where nothing
	// gives a session a mark; bare as unseen.
	with, without, bare []attribution.Answer
	reused              int // a PID that had processes of both
}

func playMoves(t *testing.T, c *cluster, pod string) *moved {
	t.Helper()
	alice, bob := newCaller(t, c.alice), newCaller(t, c.bob)
	w, connector := c.watch(t, source.ModeAuto, pod), c.watch(t, source.ModeConnector, pod)
	container := c.containerOf(t, pod)
	const shorts, each = 3, 8
	var ended []*session
	for range shorts {
		ended = append(ended, begin(t, alice, pod, append([]string{"descend"}, slices.Repeat([]string{"child,name=alice"}, each)...)...))
	}
	await(t, "the processes of short sessions to run", func() bool { return holding(t, container, "name=alice") == shorts*each })
	gone := slices.Collect(maps.Keys(running(t, container, "name=alice")))
	m := &moved{}
	held := begin(t, alice, pod, "descend", "name=held,child,name=alice")
	id := value(t, held.report, execaudit.AuditIDName)
	words := []string{"descend"}
	for _, way := range slices.Concat(honestMoves, forgedMoves, outerMoves) {
		words = append(words, strings.ReplaceAll(way, victim, id)+",name=bob")
	}
	leaver, later := begin(t, bob, pod, words...), begin(t, bob, pod, "each")
	await(t, "all processes to run", func() bool { return holding(t, container, "name=bob") == len(words)-1 })
	await(t, "the victim's, too", func() bool { return holding(t, container, "name=held,child,name=alice") == 1 })
	c.nobody(t, pod, strconv.Itoa(int(held.report.LoginUID)))
	await(t, "the agent to say that its mark is forged", func() bool {
		told := w.agent.Forged()
		return len(told) == 1 && told[0].LoginUID == held.report.LoginUID && told[0].SessionID != held.report.AuditSession
	})
	for _, s := range ended {
		if err := s.close(t); err != nil {
			t.Error(err)
		}
	}
	var err error
	m.reused, err = pids.Take(runtimetest.Context(t), container, gone, "name=bob", func(text string) error {
		_, err := io.WriteString(later.in, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*session{held, leaver, later} {
		if err := s.close(t); err != nil {
			t.Error(err)
		}
	}
	await(t, "all processes to end", func() bool {
		return len(running(t, container, "name=alice"))+len(running(t, container, "name=bob")) == 0
	})
	w.finish(t)
	connector.finish(t)
	m.answer(t, w, connector)
	return m
}

// nobody has a process that no session began take a login UID.
func (c *cluster) nobody(t *testing.T, pod, login string) {
	t.Helper()
	got, err := runtimetest.Dial(t, c.RuntimeSocket(c.NodeOf(pod))).ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{
		ContainerId: c.containerOf(t, pod),
		Cmd:         []string{testimage.Program, "loginuid", login, "linger", "200ms", "hold", "name=nobody"},
	})
	if err != nil || got.GetExitCode() != 0 {
		t.Fatalf("ExecSync = %v, %v", got, err)
	}
}

// answer asks who did what.
func (m *moved) answer(t *testing.T, w, connector *watcher) {
	t.Helper()
	ask := func(logs ...lines.Opener) []attribution.Answer {
		answers, _ := w.answers(t, attribution.Options{Window: attribution.Forever, All: true}, logs...)
		return answers
	}
	m.kernel, m.connector = ask(w.logs()...), ask(connector.logs()...)
	logs := connector.unmarked(t)
	m.with, m.without = ask(logs...), ask(logs[0], logs[2])
	journal, err := os.ReadFile(w.cluster.Journal(w.node))
	if err != nil {
		t.Fatal(err)
	}
	unseen, events, err := moves.Unseen(journal, w.told.Lines)
	if err != nil {
		t.Fatal(err)
	}
	m.unseen = ask(logs[0], logText("the journal without starts", unseen), logText("events without first processes", events))
	m.bare = ask(logs[0], logText("the same without marks", moves.Unmarked(unseen)), logText("the same without marks", moves.Unmarked(events)))
}

// running returns the processes with a command that ends so.
func running(t *testing.T, container, suffix string) map[int]string {
	t.Helper()
	found, err := pids.Ending(container, suffix)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// holding counts the processes that hold and have a command that ends so.
func holding(t *testing.T, container, suffix string) (n int) {
	t.Helper()
	for _, command := range running(t, container, suffix) {
		if strings.HasPrefix(command, pids.Holding) {
			n++
		}
	}
	return n
}

// owners returns whose processes are that ran a program of a known name.
func owners(answers []attribution.Answer) map[attribution.Process]string {
	out := map[attribution.Process]string{}
	for i := range answers {
		if user, _ := moves.Truth(answers[i].Event.Command); user != "" {
			out[answers[i].Event.Process] = user
		}
	}
	return out
}

// whole reports whether the proc connector's reader saw every process that holds, its line of parents up to a session's
// first, and no two processes that cannot be told apart.
func (m *moved) whole() bool {
	parents, first, held := map[attribution.Process]attribution.Process{}, map[attribution.Process]bool{}, []attribution.Process{}
	for i := range m.with {
		e := &m.with[i].Event
		if e.Parent.Identified() {
			parents[e.Process] = e.Parent
		}
		if e.Kind != attribution.KindExec {
			continue
		}
		first[e.Process] = first[e.Process] || strings.HasPrefix(e.Command, testimage.Program+" ")
		if _, way := moves.Truth(e.Command); strings.HasPrefix(e.Command, pids.Holding) && !strings.HasPrefix(way, "sibling") {
			held = append(held, e.Process)
		}
	}
	for _, p := range held {
		for range len(parents) {
			if first[p] {
				break
			}
			p = parents[p]
		}
		if !first[p] {
			return false
		}
	}
	return len(held) >= 2+len(honestMoves)+len(forgedMoves) && len(moves.Twins(m.with)) == 0
}

func (m *moved) check(t *testing.T) {
	for name, answers := range map[string][]attribution.Answer{
		"with the mark": m.kernel, "with the mark, by the proc connector": m.connector, "with the journal": m.with, "without": m.without,
		"with first processes that nobody saw": m.unseen, "with such, and without the mark": m.bare,
	} {
		t.Run("ATT-14 no process is named as another's, "+name, func(t *testing.T) {
			truth := owners(answers)
			for _, a := range answers {
				if a.Session != nil && a.Session.User.Name != truth[a.Event.Process] && truth[a.Event.Process] != "" {
					t.Errorf("%v %q of %s is named as %s's (%s)", a.Event.Kind, a.Event.Command, truth[a.Event.Process], a.Session.User.Name, a.Reason)
				}
			}
		})
	}
	for name, answers := range map[string][]attribution.Answer{
		"AGT-1 every process": m.kernel,
		"AGT-4 every process that the proc connector's reader could read": m.connector,
		"AGT-1 a process whose session's first one nobody saw":            m.unseen,
	} {
		t.Run("ATT-13 "+name+" is its own user's by the mark, also one cloned with CLONE_PARENT", func(t *testing.T) {
			seen := map[string]bool{}
			programs(answers, func(a *attribution.Answer, user, way string) {
				if user == "nobody" {
					return
				}
				seen[way] = true
				if a.Verdict != attribution.VerdictCorroborated || a.Session.User.Name != user {
					t.Errorf("%q: %s (%s), want corroborated as %s", a.Event.Command, a.Verdict, a.Reason, user)
				}
			})
			if want := len(honestMoves) + len(forgedMoves) + len(outerMoves); len(seen) < want {
				t.Errorf("%d ways were seen, want %d: %v", len(seen), want, seen)
			}
		})
	}
	t.Run("ATT-13 AGT-1 a process of no session that takes the victim's login UID is forged, and a hint at most", func(t *testing.T) {
		seen := 0
		programs(m.kernel, func(a *attribution.Answer, user, _ string) {
			if user != "nobody" {
				return
			}
			seen++
			if a.Verdict == attribution.VerdictCorroborated || a.Session != nil {
				t.Errorf("%q: %s (%s)", a.Event.Command, a.Verdict, a.Reason)
			}
		})
		if seen == 0 {
			t.Error("no such program was seen")
		}
	})
	t.Run("ATT-12 ATT-14 the victim's stay corroborated, and so does who forks, twice and three times, into sessions of its own", func(t *testing.T) {
		programs(m.with, func(a *attribution.Answer, user, way string) {
			honest := user == "alice" || slices.Contains(honestMoves, strings.TrimSuffix(way, ",name=bob")) || strings.Contains(way, "-try-")
			if honest && (a.Verdict != attribution.VerdictCorroborated || a.Session.User.Name != user) {
				t.Errorf("%q: %s (%s), want corroborated as %s", a.Event.Command, a.Verdict, a.Reason, user)
			}
		})
	})
	t.Run("ATT-14 without the mark a child cloned with CLONE_PARENT is at most a hint", func(t *testing.T) {
		seen := 0
		programs(m.with, func(a *attribution.Answer, _, way string) {
			if !strings.HasPrefix(way, "sibling") {
				return
			}
			seen++
			if a.Verdict == attribution.VerdictCorroborated || a.Session != nil {
				t.Errorf("%q: %s (%s), want a hint, or that it claims too much", a.Event.Command, a.Verdict, a.Reason)
			}
		})
		if seen < len(outerMoves) {
			t.Errorf("%d programs of such were seen, want %d", seen, len(outerMoves))
		}
	})
	t.Run("ATT-14 without the mark a process whose session's first one nobody saw is at most a hint", func(t *testing.T) {
		seen := 0
		programs(m.bare, func(a *attribution.Answer, _, _ string) {
			seen++
			if a.Verdict == attribution.VerdictCorroborated || a.Session != nil {
				t.Errorf("%q: %s (%s), want a hint", a.Event.Command, a.Verdict, a.Reason)
			}
		})
		if seen < len(honestMoves) {
			t.Errorf("%d programs of such were seen", seen)
		}
	})
	t.Run("ATT-14 a process that has the PID of another's is its own user's", func(t *testing.T) {
		for name, answers := range map[string][]attribution.Answer{"with the mark": m.kernel, "without": m.with} {
			users := map[string]bool{}
			for _, a := range answers { // a session's first process among them
				user, _ := moves.Truth(a.Event.Command)
				if a.Event.Process.PID == m.reused && a.Session != nil && a.Session.User.Name == user {
					users[user] = true
				}
			}
			if !users["alice"] || !users["bob"] {
				t.Errorf("%s: PID %d had processes of %v", name, m.reused, users)
			}
		}
	})
	t.Run("ATT-14 without mark and journal nobody is named", func(t *testing.T) {
		for _, a := range m.without {
			if a.Session != nil {
				t.Errorf("%v %q: %s (%s)", a.Event.Kind, a.Event.Command, a.Verdict, a.Reason)
			}
		}
	})
}

// programs calls f with the answers about processes that hold, or forked and ran one that does.
func programs(answers []attribution.Answer, f func(a *attribution.Answer, user, way string)) {
	for i := range answers {
		a := &answers[i]
		if user, way := moves.Truth(a.Event.Command); user != "" && strings.Contains(a.Event.Command, " hold ") {
			f(a, user, way)
		}
	}
}
