package runtimetest

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	utilexec "k8s.io/utils/exec"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

// Protocol is a way to carry streams.
type Protocol string

// The protocols that clients of a runtime speak.
const (
	SPDY      Protocol = "SPDY"
	WebSocket Protocol = "WebSocket"
)

// Session is one exec session: what is asked for and, after [Container.Exec], what came of it.
type Session struct {
	Cmd      []string
	Env      []envprecedence.Entry
	TTY      bool
	Protocol Protocol                        // empty is SPDY
	Stdin    io.Reader                       // nil for none
	Stdout   io.Writer                       // nil collects into Out
	Sizes    remotecommand.TerminalSizeQueue // nil for none

	Out, Err Buffer
	Code     int
}

// Exec runs the session to its end. The error is the runtime's or the stream's; an exit code other than 0 is none.
func (c *Container) Exec(ctx context.Context, s *Session) error {
	req := &runtimeapi.ExecRequest{
		ContainerId: c.ID, Cmd: s.Cmd, Tty: s.TTY, Stdin: s.Stdin != nil, Stdout: true, Stderr: !s.TTY,
	}
	if err := criwire.Write(req, s.Env); err != nil {
		return err
	}
	resp, err := c.Node.Exec(ctx, req)
	if err != nil {
		return err
	}
	return s.stream(ctx, resp.GetUrl())
}

// MustExec is Exec for sessions that cannot fail.
func (c *Container) MustExec(t testing.TB, s *Session) *Session {
	t.Helper()
	if err := c.Exec(Context(t), s); err != nil {
		t.Fatalf("exec %q: %v; stderr %q", s.Cmd, err, s.Err.String())
	}
	return s
}

// stream speaks the session at the URL.
func (s *Session) stream(ctx context.Context, at string) error {
	e, err := Executor(s.Protocol, at)
	if err != nil {
		return err
	}
	options := remotecommand.StreamOptions{Stdin: s.Stdin, Stdout: s.Stdout, Stderr: &s.Err, Tty: s.TTY, TerminalSizeQueue: s.Sizes}
	if options.Stdout == nil {
		options.Stdout = &s.Out
	}
	if s.TTY {
		options.Stderr = nil
	}
	err = e.StreamWithContext(ctx, options)
	var exit utilexec.ExitError
	if errors.As(err, &exit) {
		s.Code, err = exit.ExitStatus(), nil
	}
	return err
}

// Executor opens streams at a URL that a runtime gave. A runtime's streaming server speaks WebSocket in version 4 of
// the protocol only; clients get their version 5 from the API server, which translates.
func Executor(p Protocol, at string) (remotecommand.Executor, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	config := &rest.Config{Host: u.Scheme + "://" + u.Host}
	if p == WebSocket {
		return remotecommand.NewWebSocketExecutorForProtocols(config, "GET", at, "v4.channel.k8s.io")
	}
	return remotecommand.NewSPDYExecutor(config, "POST", u)
}

func unique() string { return rand.Text()[:12] }
