package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

// Protocol is a way to carry streams.
type Protocol string

// The protocols, in the order in which the suite prefers them. WebSocket has several versions; today's clients offer 5,
// most runtimes know 4 only.
const (
	SPDY        Protocol = "SPDY"
	WebSocketV5 Protocol = "WebSocket v5"
	WebSocketV4 Protocol = "WebSocket v4"
)

// subprotocols are the names under which WebSocket's versions are negotiated.
var subprotocols = map[Protocol]string{WebSocketV5: "v5.channel.k8s.io", WebSocketV4: "v4.channel.k8s.io"}

// Session is an exec session to be.
type Session struct {
	Container string
	Command   []string
	Env       []envprecedence.Entry
	TTY       bool
	Protocol  Protocol
}

// Run runs the session to its end and returns what it printed: at most limit bytes of each stream, after which it
// fails. The error is the runtime's, the stream's, or says how the command ended.
//
// A session with a terminal has an input, in which nothing comes, until its end: without one, containerd 2.4 takes the
// input of a WebSocket to be over at once, and closes the terminal before its output is through.
func (c *Client) Run(ctx context.Context, s Session, limit int) (stdout []byte, err error) {
	req := &runtimeapi.ExecRequest{ContainerId: s.Container, Cmd: s.Command, Tty: s.TTY, Stdin: s.TTY, Stdout: true, Stderr: !s.TTY}
	if err := criwire.Write(req, s.Env); err != nil {
		return nil, err
	}
	resp, err := c.Exec(ctx, req)
	if err != nil {
		return nil, err
	}
	executor, err := open(s.Protocol, resp.GetUrl())
	if err != nil {
		return nil, err
	}
	out, stderr := bounded{limit: limit}, bounded{limit: limit}
	options := remotecommand.StreamOptions{Stdout: &out, Stderr: &stderr, Tty: s.TTY}
	if s.TTY {
		input, end := io.Pipe()
		defer end.Close()
		options.Stdin, options.Stderr = input, nil
	}
	if err := executor.StreamWithContext(ctx, options); err != nil {
		return out.Bytes(), withStderr(err, stderr.Bytes())
	}
	return out.Bytes(), nil
}

// open prepares the streams of a session at the URL that the runtime gave. A runtime that serves them over TLS does so
// with a certificate of its own making.
func open(p Protocol, at string) (remotecommand.Executor, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("the runtime's URL for the session: %w", err)
	}
	config := &rest.Config{Host: u.Scheme + "://" + u.Host}
	config.Insecure = u.Scheme == "https"
	if version, ok := subprotocols[p]; ok {
		return remotecommand.NewWebSocketExecutorForProtocols(config, "GET", at, version)
	}
	return remotecommand.NewSPDYExecutor(config, "POST", u)
}

func withStderr(err error, stderr []byte) error {
	if len(stderr) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr))
}

// errTooMuch ends a session that prints more than it may.
var errTooMuch = errors.New("too much output")

type bounded struct {
	bytes.Buffer
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, errTooMuch
	}
	return b.Buffer.Write(p)
}
