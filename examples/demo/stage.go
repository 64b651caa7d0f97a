package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/stack"
)

// Stage is where scenes play: a running stack and the page they write on.
type Stage struct {
	Stack *stack.Stack
	Out   io.Writer
	// Users are the kubeconfigs of the story's people, by name.
	Users map[string]string
}

// Scene is one part of the story.
type Scene struct {
	Title string
	// Proves says what holds if the scene does, in one sentence.
	Proves string
	Play   func(context.Context, *Stage) error
}

// Run plays the scenes in order and stops at the first that does not hold. One that this machine cannot play is left
// out with the reason.
func Run(ctx context.Context, stage *Stage, scenes []Scene) error {
	for i, scene := range scenes {
		stage.printf("\n%d. %s\n\n", i+1, scene.Title)
		err := scene.Play(ctx, stage)
		if left := (*leftOut)(nil); errors.As(err, &left) {
			stage.printf("\n   Left out: %v\n", left.reason)
			continue
		}
		if err != nil {
			stage.printf("\n   IT DOES NOT HOLD: %v\n", err)
			return fmt.Errorf("scene %q: %w", scene.Title, err)
		}
		stage.printf("\n   Proves: %s\n", scene.Proves)
	}
	return nil
}

// leftOut says why a scene cannot be played on this machine.
type leftOut struct{ reason error }

func (l *leftOut) Error() string { return l.reason.Error() }

func (s *Stage) printf(format string, args ...any) { fmt.Fprintf(s.Out, format, args...) }

// say writes a line of the story.
func (s *Stage) say(format string, args ...any) { s.printf("   "+format+"\n", args...) }

// pause writes an empty line.
func (s *Stage) pause() { s.printf("\n") }

// check writes what holds, or returns what does not.
func (s *Stage) check(holds bool, format string, args ...any) error {
	claim := fmt.Sprintf(format, args...)
	if !holds {
		return errors.New("not true: " + claim)
	}
	s.say("ok  %s", claim)
	return nil
}

// result is what a command printed and how it ended.
type result struct {
	out, err string
	code     int
}

// kubectl runs the real kubectl as the user, and shows the command.
func (s *Stage) kubectl(ctx context.Context, user string, args ...string) (result, error) {
	cmd, err := s.command(ctx, user, args...)
	if err != nil {
		return result{}, err
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return result{}, err
	}
	return result{out.String(), strings.TrimSpace(errs.String()), cmd.ProcessState.ExitCode()}, nil
}

// command prepares kubectl as the user and shows it.
func (s *Stage) command(ctx context.Context, user string, args ...string) (*exec.Cmd, error) {
	kubeconfig, known := s.Users[user]
	if !known {
		return nil, fmt.Errorf("nobody named %q in this story", user)
	}
	program, err := parts.Find("kubectl")
	if err != nil {
		return nil, err
	}
	s.say("%s$ kubectl %s", user, strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, program, args...)
	// kubectl finds its plugins beside it.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+binOf(program)+":"+os.Getenv("PATH"))
	return cmd, nil
}

func binOf(program string) string { return program[:strings.LastIndex(program, "/")] }

// await runs kubectl again until its output holds the text, and returns the last
// output when ctx ends or it has waited long enough.
func (s *Stage) await(ctx context.Context, user, text string, args ...string) (string, error) {
	shown := s.Out
	defer func() { s.Out = shown }()
	for deadline := time.Now().Add(patience); ; {
		got, err := s.kubectl(ctx, user, args...)
		if err != nil || strings.Contains(got.out, text) || time.Now().After(deadline) {
			return got.out, err
		}
		s.Out = io.Discard // the command was shown once
		select {
		case <-ctx.Done():
			return got.out, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// patience is how long the story waits for what comes by itself.
const patience = 10 * time.Second
