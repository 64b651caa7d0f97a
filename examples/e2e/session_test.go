package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
)

// caller opens exec sessions with client-go, many at a time.
type caller struct {
	config *rest.Config
	client *kubernetes.Clientset
}

func newCaller(t *testing.T, kubeconfig string) *caller {
	t.Helper()
	config, err := stack.Config(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &caller{config, client}
}

// exec runs a command to its end over a WebSocket.
func (c *caller) exec(ctx context.Context, pod string, in io.Reader, out io.Writer, command ...string) error {
	executor, err := c.executor(pod, in != nil, command)
	if err != nil {
		return err
	}
	return stream(ctx, executor, in, out)
}

func (c *caller) executor(pod string, in bool, command []string) (remotecommand.Executor, error) {
	request := c.client.CoreV1().RESTClient().Get().Namespace(metav1.NamespaceDefault).
		Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: command, Stdin: in, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	return remotecommand.NewWebSocketExecutor(c.config, "GET", request.URL().String())
}

// stream carries a session to its end.
func stream(ctx context.Context, executor remotecommand.Executor, in io.Reader, out io.Writer) error {
	var errs lockedBuffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: &errs}); err != nil {
		return fmt.Errorf("%w: %s", err, errs.String())
	}
	return nil
}

// lockedBuffer can be read while client-go's copying of a session that was cut still
// goes on.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// report runs the reporter once.
func (c *caller) report(ctx context.Context, pod string) (report.Report, error) {
	var out bytes.Buffer
	var r report.Report
	if err := c.exec(ctx, pod, nil, &out, testimage.Program); err != nil {
		return r, err
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// session is a session that has reported and stays open until it is closed.
type session struct {
	report report.Report
	in     *io.PipeWriter
	ended  chan error
}

// hold opens a session of the reporter's "hold".
func (c *caller) hold(ctx context.Context, pod string) (*session, error) {
	return c.open(ctx, pod, "hold")
}

// open opens a session of the reporter that lasts until its input ends.
func (c *caller) open(ctx context.Context, pod string, words ...string) (*session, error) {
	executor, err := c.executor(pod, true, append([]string{testimage.Program}, words...))
	if err != nil {
		return nil, err
	}
	return openSession(ctx, executor)
}

// openSession returns a session whose program has reported.
func openSession(ctx context.Context, executor remotecommand.Executor) (*session, error) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	s := &session{in: inWrite, ended: make(chan error, 1)}
	go func() {
		err := stream(ctx, executor, inRead, outWrite)
		_ = outWrite.CloseWithError(errors.Join(err, io.EOF))
		_ = inWrite.Close()
		s.ended <- err
	}()
	lines := bufio.NewReader(outRead)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		_ = inWrite.Close()
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return s, json.Unmarshal(line, &s.report)
}

// open reports whether the session has not ended.
func (s *session) open() bool {
	select {
	case err := <-s.ended:
		s.ended <- err
		return false
	default:
		return true
	}
}

// close ends the session as a person does, and returns how it ended.
func (s *session) close(t *testing.T) error {
	t.Helper()
	_ = s.in.Close()
	return s.wait(t)
}

// wait returns how the session ended.
func (s *session) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.ended:
		s.ended <- err
		return err
	case <-time.After(2 * time.Minute):
		t.Fatal("a session hangs")
		return nil
	}
}
