package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/witness"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// whoRanWhat joins the audit log, the runtime's exec journal and the agent's events.
func whoRanWhat() Scene {
	return Scene{
		Title: "Who ran what? Alice and Bob at once, their children, and Mallory in Alice's name",
		Proves: "each process of overlapping sessions is traced to its user, by the kernel's mark: children, one that left its parents, " +
			"and one that claims to be another's.",
		Play: func(ctx context.Context, s *Stage) error {
			told, err := s.watched(ctx, "web")
			if err != nil {
				return err
			}
			answers, err := s.attribute(ctx, "node-1", told.Lines)
			if err != nil {
				return err
			}
			if err := s.show(answers); err != nil {
				return err
			}
			return s.checkAnswers(answers)
		},
	}
}

// watched plays the sessions in the pod and returns what the agent told meanwhile.
func (s *Stage) watched(ctx context.Context, pod string) (told witness.Told, err error) {
	found, err := s.Stack.Admin().CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return told, err
	}
	_, id, _ := strings.Cut(found.Status.ContainerStatuses[0].ContainerID, "://")
	node := s.Stack.NodeOf(pod)
	w, err := witness.Watch(witness.Options{Node: node, Journal: s.Stack.Journal(node), Containers: []string{id}})
	if errors.Is(err, witness.ErrUnsupported) {
		return told, &leftOut{err}
	}
	if err != nil {
		return told, err
	}
	err = s.overlapWithSpoof(ctx, pod)
	told, ended := w.End()
	if err := errors.Join(err, ended); err != nil {
		return told, err
	}
	return told, s.check(told.Missed == 0, "the agent saw every process of a session, by the %s", seenBy[told.Origin])
}

var seenBy = map[agent.Origin]string{agent.OriginKernel: "kernel's programs", agent.OriginConnector: "kernel's proc connector"}

// overlapWithSpoof has three sessions open at once; each has two processes more below its first, or leaves it and
// claims another's ID.
func (s *Stage) overlapWithSpoof(ctx context.Context, pod string) error {
	alice, err := s.open(ctx, "alice", pod, "tree", "2")
	if err != nil {
		return err
	}
	defer alice.end()
	bob, err := s.open(ctx, "bob", pod, "tree", "2")
	if err != nil {
		return err
	}
	defer bob.end()
	mallory, err := s.open(ctx, "mallory", pod, "forge", alice.id, "descend", "sibling")
	if err != nil {
		return err
	}
	defer mallory.end()
	child, err := mallory.next()
	if err != nil {
		return err
	}
	return errors.Join(
		s.check(mallory.id == alice.id, "Mallory's process carries Alice's audit ID in its environment"),
		s.check(env(child, execaudit.AuditIDName) == alice.id && child.Parent != mallory.said.Pid,
			"so does another, which is not its child any more: made by clone(2) with CLONE_PARENT"),
	)
}

// attribute asks who did what the events tell.
func (s *Stage) attribute(ctx context.Context, node string, events []byte) (answers []attribution.Answer, err error) {
	m := attribution.New(attribution.Options{Window: attribution.Forever}, func(a *attribution.Answer) {
		answers = append(answers, *a)
	})
	file := func(path string) lines.Opener {
		return lines.Opener{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
	}
	told := lines.Opener{Name: "process events", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(events)), nil
	}}
	sources := []*lines.Source{
		{Files: []lines.Opener{file(s.Stack.AuditLog())}},
		{Files: []lines.Opener{file(s.Stack.Journal(node))}},
		{Files: []lines.Opener{told}},
	}
	var faults []error
	err = join.Files(ctx, m, sources, join.Trouble{
		Fault:   func(f *lines.Fault) { faults = append(faults, f) },
		Stopped: func(err error) { faults = append(faults, err) },
	})
	return answers, errors.Join(append(faults, err)...)
}

// show prints what programs were run, and leaves all of it as a page.
func (s *Stage) show(answers []attribution.Answer) (err error) {
	s.pause()
	var text strings.Builder
	table := report.NewTable(&text)
	path, err := filepath.Abs(pageFile)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	page := report.NewPage(file)
	for i := range answers {
		if err := page.Add(&answers[i]); err != nil {
			return err
		}
		if answers[i].Event.Kind != attribution.KindExec {
			continue
		}
		if err := table.Add(&answers[i]); err != nil {
			return err
		}
	}
	s.quote(text.String())
	s.pause()
	s.say("The same as a page, with each fork and exit: file://%s", path)
	return page.Close()
}

// pageFile outlives the stack, whose directory does not.
const pageFile = ".build/lanyard-demo.html"

func (s *Stage) checkAnswers(answers []attribution.Answer) error {
	programs, forged := map[string]int{}, 0
	for _, a := range answers {
		if a.Event.Kind != attribution.KindExec {
			continue
		}
		if a.Session != nil {
			programs[a.Session.Actor().Name]++
		}
		if a.Session != nil && a.Session.Actor().Name == "mallory" && a.Reason == attribution.ReasonKernelSpoofed {
			forged++
		}
	}
	for _, user := range []string{"alice", "bob"} {
		if err := s.check(programs[user] == 3, "%s ran %s and two processes below it", user, testimage.Program); err != nil {
			return fmt.Errorf("%w: %d processes", err, programs[user])
		}
	}
	return errors.Join(
		s.check(programs["mallory"] == 3, "Mallory ran %s, what that became, and the one that left: all of them Mallory's", testimage.Program),
		s.check(forged == 2, "both that claim Alice's ID are told to be spoofed: the kernel's mark says otherwise"),
	)
}
