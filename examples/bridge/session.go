package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// Session is a session of the reporter by the real kubectl that has reported and still runs.
type Session struct {
	User *kubernetes.User
	// ID is what its first process has in its environment as [bridge.SessionName], "" where it has not.
	ID string
	// Reports are those that were awaited, the first process's first.
	Reports []report.Report

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *said
}

// Open runs `kubectl exec -i` of the reporter with the words, and waits for so many reports. target is a pod, or flags
// of kubectl's and a pod. End the session when done.
func (r *Rig) Open(ctx context.Context, user *kubernetes.User, reports int, target []string, words ...string) (*Session, error) {
	kubectl, err := parts.Find("kubectl")
	if err != nil {
		return nil, err
	}
	args := append(append([]string{"exec", "-i"}, target...), "--", testimage.Program)
	s := &Session{User: user, stderr: &said{}}
	s.cmd = exec.CommandContext(ctx, kubectl, append(args, words...)...)
	s.cmd.Env = []string{"KUBECONFIG=" + user.Kubeconfig, "HOME=" + r.Dir()}
	s.cmd.Stderr = s.stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range reports {
		if err := s.await(); err != nil {
			_ = s.End()
			return nil, fmt.Errorf("the session of %s did not report: %w: %s", user.Name, err, s.stderr)
		}
	}
	s.ID, _ = s.Reports[0].Get(bridge.SessionName)
	return s, nil
}

func (s *Session) await() error {
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	var r report.Report
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	s.Reports = append(s.Reports, r)
	return nil
}

// Say writes to the session's input.
func (s *Session) Say(text string) error {
	_, err := io.WriteString(s.in, text)
	return err
}

// End closes the session's input and waits until kubectl has ended.
func (s *Session) End() error {
	_ = s.in.Close()
	_, _ = io.Copy(io.Discard, s.out)
	return s.cmd.Wait()
}

// Stderr is what kubectl and the processes have written to it so far.
func (s *Session) Stderr() string { return s.stderr.String() }

// said collects what a program says while others look.
type said struct {
	mu   sync.Mutex
	text []byte
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	return len(p), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}
