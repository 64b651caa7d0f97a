package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/moves"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/witness"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// watcher is an agent that watches some pods of one node.
type watcher struct {
	cluster *cluster
	node    string
	agent   *witness.Witness
	told    witness.Told
}

func (c *cluster) watch(t *testing.T, mode source.Mode, pods ...string) *watcher {
	t.Helper()
	node, containers := "", []string{}
	for _, pod := range pods {
		node = c.NodeOf(pod)
		containers = append(containers, c.containerOf(t, pod))
	}
	agent, err := witness.Watch(witness.Options{Node: node, Journal: c.Journal(node), Containers: containers, Mode: mode})
	if errors.Is(err, witness.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{cluster: c, node: node, agent: agent}
	t.Cleanup(func() {
		if w.agent != nil {
			_, _ = w.agent.End()
		}
	})
	return w
}

// containerOf returns the CRI ID of the pod's container.
func (c *cluster) containerOf(t *testing.T, pod string) string {
	t.Helper()
	found, err := c.Admin().CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), pod, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(found.Status.ContainerStatuses[0].ContainerID, "://")
	return id
}

// finish stops watching.
func (w *watcher) finish(t *testing.T) {
	t.Helper()
	var err error
	w.told, err = w.agent.End()
	if w.agent = nil; err != nil {
		t.Fatal(err)
	}
}

// logs are what is joined: who asked, what the runtime started, what ran.
func (w *watcher) logs() []lines.Opener {
	return []lines.Opener{logFile(w.cluster.AuditLog()), logFile(w.cluster.Journal(w.node)), logText("the agent's events", w.told.Lines)}
}

// unmarked are the logs as they would be if the runtime set no mark.
func (w *watcher) unmarked(t *testing.T) []lines.Opener {
	t.Helper()
	journal, err := os.ReadFile(w.cluster.Journal(w.node))
	if err != nil {
		t.Fatal(err)
	}
	return []lines.Opener{
		logFile(w.cluster.AuditLog()), logText("the journal without marks", moves.Unmarked(journal)),
		logText("the events without marks", moves.Unmarked(w.told.Lines)),
	}
}

// programs returns the answers about programs that were run, in order.
func (w *watcher) programs(t *testing.T, logs ...lines.Opener) []attribution.Answer {
	t.Helper()
	answers, _ := w.answers(t, attribution.Options{Window: attribution.Forever}, logs...)
	return slices.DeleteFunc(answers, func(a attribution.Answer) bool { return a.Event.Kind != attribution.KindExec })
}

// answers joins logs.
func (w *watcher) answers(t *testing.T, o attribution.Options, logs ...lines.Opener) (answers []attribution.Answer, _ attribution.Stats) {
	t.Helper()
	m := attribution.New(o, func(a *attribution.Answer) { answers = append(answers, *a) })
	var sources []*lines.Source
	for _, log := range logs {
		sources = append(sources, &lines.Source{Files: []lines.Opener{log}})
	}
	err := join.Files(t.Context(), m, sources, join.Trouble{
		Fault: func(f *lines.Fault) { t.Error(f) }, Stopped: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers, m.Stats()
}

func logText(name string, text []byte) lines.Opener {
	return lines.Opener{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}

func logFile(path string) lines.Opener {
	return lines.Opener{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// begin opens a session on the pod that lasts until it is closed.
func begin(t *testing.T, c *caller, pod string, words ...string) *session {
	t.Helper()
	s, err := c.open(t.Context(), pod, words...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAttribution(t *testing.T) {
	c := common(t)
	alice, bob := newCaller(t, c.alice), newCaller(t, c.bob)
	t.Run("ATT-2 ATT-4 AGT-1 AGT-3 overlapping sessions of two users on one pod are told apart, four generations down", func(t *testing.T) {
		w := c.watch(t, source.ModeAuto, ours)
		var sessions []*session
		for range 3 {
			// The last word is the truth: each process has it, and nothing that is joined looks at it.
			sessions = append(sessions, begin(t, alice, ours, "tree", "4", "alice"), begin(t, bob, ours, "tree", "4", "bob"))
		}
		for _, s := range sessions {
			if err := s.close(t); err != nil {
				t.Error(err)
			}
		}
		w.finish(t)
		for reason, logs := range map[attribution.Reason][]lines.Opener{
			attribution.ReasonKernel: w.logs(), attribution.ReasonChain: w.unmarked(t),
		} {
			count := map[string]int{}
			for _, a := range w.programs(t, logs...) {
				truth := a.Event.Command[strings.LastIndexByte(a.Event.Command, ' ')+1:]
				if a.Session == nil || a.Session.User.Name != truth || a.Reason != reason {
					t.Errorf("%q: %s (%s), want %s", a.Event.Command, a.Verdict, a.Reason, reason)
				}
				count[truth]++
			}
			if count["alice"] != 15 || count["bob"] != 15 || len(count) != 2 {
				t.Errorf("programs seen: %v, want 15 each", count)
			}
		}
	})
	t.Run("ATT-5 ATT-12 ATT-13 a process that claims another's session is its own user's by the mark, and conflicting without", func(t *testing.T) {
		w := c.watch(t, source.ModeAuto, ours)
		victim := begin(t, alice, ours, "tree", "1", "alice")
		id := value(t, victim.report, execaudit.AuditIDName)
		forger := begin(t, bob, ours, "forge", id, "tree", "2", "bob")
		if got := value(t, forger.report, execaudit.AuditIDName); got != id {
			t.Fatalf("the forger carries %q", got)
		}
		for _, s := range []*session{forger, victim} {
			if err := s.close(t); err != nil {
				t.Error(err)
			}
		}
		w.finish(t)
		checkForged(t, w.programs(t, w.logs()...), attribution.VerdictCorroborated, attribution.ReasonKernelSpoofed, "bob")
		checkForged(t, w.programs(t, w.unmarked(t)...), attribution.VerdictConflicting, attribution.ReasonSpoofed, "")
	})
}

// checkForged checks the answers about Alice's programs and those of Bob's that claim to be hers, which are to be named
// as the user's, "" for none.
func checkForged(t *testing.T, answers []attribution.Answer, verdict attribution.Verdict, reason attribution.Reason, user string) {
	t.Helper()
	forged := 0
	for _, a := range answers {
		switch {
		case strings.HasSuffix(a.Event.Command, "alice"):
			if a.Session == nil || a.Session.User.Name != "alice" {
				t.Errorf("%q: %s (%s)", a.Event.Command, a.Verdict, a.Reason)
			}
		case a.Event.Command == "" || strings.HasPrefix(a.Event.Command, testimage.Program+" forge"):
			// The forgery may have happened before the environment was read, or been at it: in the middle of an exec a
			// process shows neither a command nor an environment.
			if a.Session != nil && a.Session.User.Name != "bob" {
				t.Errorf("%q names %s", a.Event.Command, a.Session.User.Name)
			}
		default:
			forged++
			if a.Verdict != verdict || a.Reason != reason || (a.Session != nil) != (user != "") || a.Session != nil && a.Session.User.Name != user {
				t.Errorf("%q: %s (%s), session %v", a.Event.Command, a.Verdict, a.Reason, a.Session)
			}
			if len(a.Claims) != 1 || a.Claims[0].User.Name != "alice" {
				t.Errorf("%q: claims %v", a.Event.Command, a.Claims)
			}
		}
	}
	if forged < 3 {
		t.Errorf("%d programs with a forged ID, want 3", forged)
	}
}
