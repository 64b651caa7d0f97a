package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/witness"
)

// story is what the scenes share.
type story struct {
	*Rig
	out io.Writer
	pod *corev1.Pod
	// The people, and their sessions as far as they go on.
	alice, bob, mallory *kubernetes.User
	sessions            map[string]*Session
	// agent watches the pod, from before the first session on; nil where it cannot, and when it is over.
	agent *witness.Witness
}

// scene is one part of the story.
type scene struct {
	title string
	play  func(context.Context, *story) error
}

// Tell starts a rig in dir, plays every scene and stops it. It returns an error unless all of the story held and
// nothing is left.
func Tell(ctx context.Context, dir string, out io.Writer) (err error) {
	began := time.Now()
	s := &story{out: out, sessions: map[string]*Session{}}
	s.say("Starting, all of them as released, unmodified, on this machine:")
	s.Rig, err = Start(ctx, Options{Dir: dir, Tell: func(what string) { s.say("  %s", what) }})
	if err != nil {
		return err
	}
	defer func() {
		for _, session := range s.sessions {
			_ = session.End()
		}
		if s.agent != nil {
			_, _ = s.agent.End()
		}
		if err = errors.Join(err, s.Stop()); err == nil {
			s.say("\nAll of it held, and nothing is left running. (%.0f s)", time.Since(began).Seconds())
		}
	}()
	for i, scene := range []scene{together(), whose(), forged(), replayed(), verdicts(), told()} {
		s.say("\n%d. %s\n", i+1, scene.title)
		if err := scene.play(ctx, s); err != nil {
			s.say("\n   IT DOES NOT HOLD: %v", err)
			return fmt.Errorf("%s: %w", scene.title, err)
		}
	}
	return nil
}

// say writes a line of the story.
func (s *story) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// show writes what somebody does.
func (s *story) show(format string, args ...any) { s.say("   "+format, args...) }

// check writes what holds, or returns what does not.
func (s *story) check(holds bool, format string, args ...any) error {
	claim := fmt.Sprintf(format, args...)
	if !holds {
		return errors.New("not true: " + claim)
	}
	s.show("ok  %s", claim)
	return nil
}
