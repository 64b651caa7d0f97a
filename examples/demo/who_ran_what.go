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

	"github.com/lanyard-dev/lanyard/examples/procwatch"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
)

// whoRanWhat joins the audit log, the runtime's exec journal and the kernel's process events.
func whoRanWhat() Scene {
	return Scene{
		Title:  "Who ran what? Alice and Bob at once, their children, and Mallory in Alice's name",
		Proves: "each process of overlapping sessions, children included, is traced to its user, and a forged audit ID is shown as forged.",
		Play: func(ctx context.Context, s *Stage) error {
			events, err := s.watched(ctx, "web")
			if err != nil {
				return err
			}
			answers, err := s.attribute(ctx, "node-1", events)
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

// watched plays the sessions in the pod and returns the process events meanwhile.
func (s *Stage) watched(ctx context.Context, pod string) (events []byte, err error) {
	found, err := s.Stack.Admin().CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	_, id, _ := strings.Cut(found.Status.ContainerStatuses[0].ContainerID, "://")
	w, err := procwatch.Open(procwatch.Options{Node: s.Stack.NodeOf(pod), Containers: func(c string) bool { return c == id }})
	if errors.Is(err, procwatch.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		return nil, &leftOut{err}
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var told bytes.Buffer
	watching, stop := context.WithCancel(ctx)
	defer stop()
	followed := make(chan error, 1)
	go func() { followed <- w.Follow(watching, &told) }()
	err = s.overlapWithSpoof(ctx, pod)
	stop()
	err = errors.Join(err, <-followed)
	if err == nil {
		err = s.check(w.Counts().Overruns == 0, "the kernel dropped no process event")
	}
	return told.Bytes(), err
}

// overlapWithSpoof has three sessions open at once; each has two processes more below its first, or claims another's
// ID.
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
	mallory, err := s.open(ctx, "mallory", pod, "forge", alice.id, "hold")
	if err != nil {
		return err
	}
	defer mallory.end()
	return s.check(mallory.id == alice.id, "Mallory's process carries Alice's audit ID in its environment")
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
		if a.Verdict == attribution.VerdictConflicting && a.Reason == attribution.ReasonSpoofed {
			forged++
		}
	}
	for _, user := range []string{"alice", "bob"} {
		if err := s.check(programs[user] == 3, "%s ran %s and two processes below it", user, testimage.Program); err != nil {
			return fmt.Errorf("%w: %d processes", err, programs[user])
		}
	}
	return s.check(forged >= 1, "Mallory's process is conflicting: it claims Alice's ID, and the chain of processes says otherwise")
}
