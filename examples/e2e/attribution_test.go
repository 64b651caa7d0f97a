package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/procwatch"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// witness watches the processes of some pods of one node.
type witness struct {
	cluster *cluster
	node    string
	watcher *procwatch.Watcher
	told    bytes.Buffer
	stop    context.CancelFunc
	ended   chan error
}

func (c *cluster) witness(t *testing.T, pods ...string) *witness {
	t.Helper()
	node, watched := "", map[string]bool{}
	for _, pod := range pods {
		node = c.NodeOf(pod)
		watched[c.containerOf(t, pod)] = true
	}
	w, err := procwatch.Open(procwatch.Options{Node: node, Containers: func(id string) bool { return watched[id] }})
	if errors.Is(err, procwatch.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	out := &witness{cluster: c, node: node, watcher: w, stop: stop, ended: make(chan error, 1)}
	go func() { out.ended <- w.Follow(ctx, &out.told) }()
	t.Cleanup(func() {
		stop()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return out
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
func (w *witness) finish(t *testing.T) {
	t.Helper()
	w.stop()
	if err := <-w.ended; err != nil {
		t.Fatal(err)
	}
	if got := w.watcher.Counts(); got.Overruns > 0 {
		t.Fatalf("the kernel dropped events: %+v", got)
	}
}

// programs stops watching and returns the answers about programs that were run, in order.
func (w *witness) programs(t *testing.T) []attribution.Answer {
	t.Helper()
	w.finish(t)
	var programs []attribution.Answer
	answers, _ := w.answers(t, attribution.Options{Window: attribution.Forever}, w.logs()...)
	for _, a := range answers {
		if a.Event.Kind == attribution.KindExec {
			programs = append(programs, a)
		}
	}
	return programs
}

// logs are what is joined: who asked, what the runtime started, what ran.
func (w *witness) logs() []lines.Opener {
	return []lines.Opener{logFile(w.cluster.AuditLog()), logFile(w.cluster.Journal(w.node)), logText("process events", w.told.Bytes())}
}

// answers joins logs.
func (w *witness) answers(t *testing.T, o attribution.Options, logs ...lines.Opener) (answers []attribution.Answer, _ attribution.Stats) {
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
	t.Run("ATT-2 ATT-4 overlapping sessions of two users on one pod are told apart, four generations down", func(t *testing.T) {
		w := c.witness(t, ours)
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
		count := map[string]int{}
		for _, a := range w.programs(t) {
			truth := a.Event.Command[strings.LastIndexByte(a.Event.Command, ' ')+1:]
			if a.Session == nil || a.Session.User.Name != truth {
				t.Errorf("%q: %s (%s)", a.Event.Command, a.Verdict, a.Reason)
			}
			count[truth]++
		}
		if count["alice"] != 15 || count["bob"] != 15 || len(count) != 2 {
			t.Errorf("programs seen: %v, want 15 each", count)
		}
	})
	t.Run("ATT-5 ATT-12 a process that claims another's session is conflicting, and the claim no fact", func(t *testing.T) {
		w := c.witness(t, ours)
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
		forged := 0
		for _, a := range w.programs(t) {
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
				if a.Verdict != attribution.VerdictConflicting || a.Reason != attribution.ReasonSpoofed || a.Session != nil {
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
	})
}
