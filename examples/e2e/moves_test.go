package e2e_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/pids"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// How the attacker's processes come, on a runtime that sets no mark of the kernel's. The last word of their command is
// the truth, at which nothing that is joined looks.
var (
	// honestMoves stay in the tree, whatever they do besides.
	honestMoves = []string{"child", "session", "daemon", "triple", "bare", "daemon,bare"}
	// forgedMoves stay in the tree with another's ID in the environment.
	forgedMoves = []string{"child,as=" + victim, "daemon,as=" + victim, "triple,as=" + victim}
	// outerMoves have a parent outside of the container.
	outerMoves = []string{"sibling", "sibling,bare", "sibling,as=" + victim, "sibling,uid=4711", "sibling,as=" + victim + ",uid=4711"}
)

// TestMoves has one user's processes try to leave their session for another's.
func TestMoves(t *testing.T) {
	c := common(t)
	p := pod("moves", ours)
	p.Spec.Containers[0].Args = []string{"pause"} // which leaves no zombies, whose PIDs nobody else gets
	if _, err := c.run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	// A process can be gone before the watcher looks at it. What is wrong then is wrong in each round.
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

// moves is what came of a round.
type moves struct {
	with, without []attribution.Answer // the journal
	reused        int                  // a PID that had processes of both
}

func playMoves(t *testing.T, c *cluster, pod string) *moves {
	t.Helper()
	alice, bob := newCaller(t, c.alice), newCaller(t, c.bob)
	w := c.witness(t, pod)
	container := c.containerOf(t, pod)
	const shorts, each = 3, 8
	var ended []*session
	for range shorts {
		ended = append(ended, begin(t, alice, pod, append([]string{"descend"}, slices.Repeat([]string{"child,name=alice"}, each)...)...))
	}
	await(t, "the processes of short sessions to run", func() bool { return holding(t, container, "name=alice") == shorts*each })
	gone := slices.Collect(maps.Keys(running(t, container, "name=alice")))
	m := &moves{}
	held := begin(t, alice, pod, "descend", "name=held,child,name=alice")
	id := value(t, held.report, execaudit.AuditIDName)
	words := []string{"descend"}
	for _, way := range slices.Concat(honestMoves, forgedMoves, outerMoves) {
		words = append(words, strings.ReplaceAll(way, victim, id)+",name=bob")
	}
	leaver, later := begin(t, bob, pod, words...), begin(t, bob, pod, "each")
	await(t, "all processes to run", func() bool { return holding(t, container, "name=bob") == len(words)-1 })
	await(t, "the victim's, too", func() bool { return holding(t, container, "name=held,child,name=alice") == 1 })
	for _, s := range ended {
		if err := s.close(t); err != nil {
			t.Error(err)
		}
	}
	m.reused = takePID(t, container, gone, later.in)
	for _, s := range []*session{held, leaver, later} {
		if err := s.close(t); err != nil {
			t.Error(err)
		}
	}
	await(t, "all processes to end", func() bool {
		return len(running(t, container, "name=alice"))+len(running(t, container, "name=bob")) == 0
	})
	w.finish(t)
	everything := attribution.Options{Window: attribution.Forever, All: true}
	logs := w.logs()
	m.with, _ = w.answers(t, everything, logs...)
	m.without, _ = w.answers(t, everything, logs[0], logs[2])
	return m
}

// takePID has a session's process fork until one of its children has a PID of those that are gone, and returns that.
// Others on the machine may be faster, or keep one for long: so there are many children, and many PIDs.
func takePID(t *testing.T, container string, gone []int, session io.Writer) int {
	t.Helper()
	const batches, children = 10, 20
	for batch := range batches {
		name, lines := fmt.Sprintf("try-%d,name=bob", batch), ""
		for n := range children {
			lines += fmt.Sprintf("%d-%s\n", n, name)
		}
		stop := pids.Recycle(gone)
		if _, err := io.WriteString(session, lines); err != nil {
			t.Fatal(err)
		}
		await(t, "the children to run", func() bool { return holding(t, container, name) == children })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for pid := range running(t, container, name) {
			if slices.Contains(gone, pid) {
				return pid
			}
		}
	}
	t.Fatalf("no child has one of the PIDs %v", gone)
	return 0
}

// running returns the processes with a command that ends so.
func running(t *testing.T, container, suffix string) map[int]string {
	t.Helper()
	found, err := pids.In(container)
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(found, func(_ int, command string) bool { return !strings.HasSuffix(command, suffix) })
	return found
}

// holding counts the processes that hold and have a command that ends so.
func holding(t *testing.T, container, suffix string) (n int) {
	t.Helper()
	for _, command := range running(t, container, suffix) {
		if strings.HasPrefix(command, "/proc/self/exe hold ") {
			n++
		}
	}
	return n
}

// truthOf returns whose process an event is by its command, and the way that it came.
func truthOf(e *attribution.Event) (user, way string) {
	way = e.Command[strings.LastIndexByte(e.Command, ' ')+1:]
	for word := range strings.SplitSeq(way, ",") {
		if name, ok := strings.CutPrefix(word, "name="); ok {
			user = name
		}
	}
	return user, way
}

// owners returns whose processes are that ran a program of a known name.
func owners(answers []attribution.Answer) map[attribution.Process]string {
	out := map[attribution.Process]string{}
	for i := range answers {
		if user, _ := truthOf(&answers[i].Event); user != "" {
			out[answers[i].Event.Process] = user
		}
	}
	return out
}

// whole reports whether every process that holds was seen, and its line of parents up to a session's first.
func (m *moves) whole() bool {
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
		if _, way := truthOf(e); strings.HasPrefix(e.Command, "/proc/self/exe hold ") && !strings.HasPrefix(way, "sibling") {
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
	return len(held) >= 2+len(honestMoves)+len(forgedMoves)
}

func (m *moves) check(t *testing.T) {
	for name, answers := range map[string][]attribution.Answer{"with the journal": m.with, "without": m.without} {
		t.Run("ATT-14 no process is named as another's, "+name, func(t *testing.T) {
			truth := owners(answers)
			for _, a := range answers {
				if a.Session != nil && a.Session.User.Name != truth[a.Event.Process] && truth[a.Event.Process] != "" {
					t.Errorf("%v %q of %s is named as %s's (%s)", a.Event.Kind, a.Event.Command, truth[a.Event.Process], a.Session.User.Name, a.Reason)
				}
			}
		})
	}
	t.Run("ATT-12 ATT-14 the victim's stay corroborated, and so does who forks, twice and three times, into sessions of its own", func(t *testing.T) {
		m.programs(t, func(a *attribution.Answer, user, way string) {
			honest := user == "alice" || slices.Contains(honestMoves, strings.TrimSuffix(way, ",name=bob")) || strings.Contains(way, "-try-")
			if honest && (a.Verdict != attribution.VerdictCorroborated || a.Session.User.Name != user) {
				t.Errorf("%q: %s (%s), want corroborated as %s", a.Event.Command, a.Verdict, a.Reason, user)
			}
		})
	})
	t.Run("ATT-14 a child cloned with CLONE_PARENT is at most a hint", func(t *testing.T) {
		seen := 0
		m.programs(t, func(a *attribution.Answer, _, way string) {
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
	t.Run("ATT-14 a process that has the PID of another's is its own user's", func(t *testing.T) {
		users := map[string]bool{}
		for _, a := range m.with { // a session's first process among them
			if user, _ := truthOf(&a.Event); a.Event.Process.PID == m.reused && a.Session != nil && a.Session.User.Name == user {
				users[user] = true
			}
		}
		if !users["alice"] || !users["bob"] {
			t.Errorf("PID %d had processes of %v", m.reused, users)
		}
	})
	t.Run("ATT-14 without the journal nobody is named", func(t *testing.T) {
		for _, a := range m.without {
			if a.Session != nil {
				t.Errorf("%v %q: %s (%s)", a.Event.Kind, a.Event.Command, a.Verdict, a.Reason)
			}
		}
	})
}

// programs calls f with the answers about processes that hold, or forked and ran one that does.
func (m *moves) programs(t *testing.T, f func(a *attribution.Answer, user, way string)) {
	t.Helper()
	for i := range m.with {
		a := &m.with[i]
		if user, way := truthOf(&a.Event); user != "" && strings.Contains(a.Event.Command, " hold ") {
			f(a, user, way)
		}
	}
}
