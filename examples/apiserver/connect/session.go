package connect

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/registry/rest"
	clientremote "k8s.io/client-go/tools/remotecommand"
	clientspdy "k8s.io/client-go/transport/spdy"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

const (
	// idleTimeout is how long a session may be silent, as at kubelets.
	idleTimeout = 4 * time.Hour
	// pingPeriod keeps silent sessions from being cut by what lies between.
	pingPeriod = 5 * time.Second
)

// session is one exec or attach between a client and a kubelet. Both ends are real ones, where Kubernetes passes SPDY
// frames on unread: only so can the client be told when the session was cut short, which else looks like success.
type session struct {
	kubelets  *Kubelets
	location  *url.URL
	streams   streams
	responder rest.Responder
}

// ServeHTTP implements http.Handler: the client chooses WebSocket, of version 5 or older, or SPDY.
func (s session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !httpstream.IsUpgradeRequest(r) {
		s.responder.Error(apierrors.NewBadRequest("Upgrade request required"))
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(s.kubelets.running, func() { cancel(errClosing) })
	defer stop()
	r = r.WithContext(ctx)
	if wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		s.serveWebSocket(w, r)
		return
	}
	options := &remotecommand.Options{Stdin: s.streams.stdin, Stdout: s.streams.stdout, Stderr: s.streams.stderr && !s.streams.tty, TTY: s.streams.tty}
	remotecommand.ServeExec(w, r, s, "", "", "", nil, options, idleTimeout, remotecommand.DefaultStreamCreationTimeout, []string{
		remotecommand.StreamProtocolV4Name, remotecommand.StreamProtocolV3Name,
		remotecommand.StreamProtocolV2Name, remotecommand.StreamProtocolV1Name,
	})
}

// ExecInContainer implements remotecommand.Executor.
func (s session) ExecInContainer(ctx context.Context, _, _, _ string, _ []string, in io.Reader, out, errs io.WriteCloser, _ bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	var sizes clientremote.TerminalSizeQueue
	if resize != nil {
		sizes = queue(func() (uint16, uint16, bool) {
			size, ok := <-resize
			return size.Width, size.Height, ok
		})
	}
	return s.run(ctx, in, out, errs, sizes)
}

// run is the kubelet's end. It returns nil only when the kubelet said that the command succeeded.
func (s session) run(ctx context.Context, in io.Reader, out, errs io.Writer, sizes clientremote.TerminalSizeQueue) error {
	executor, err := s.executor()
	if err != nil {
		return err
	}
	o := clientremote.StreamOptions{Tty: s.streams.tty, TerminalSizeQueue: sizes}
	if s.streams.stdin {
		o.Stdin = in
	}
	if s.streams.stdout {
		o.Stdout = out
	}
	if s.streams.stderr && !s.streams.tty {
		o.Stderr = errs
	}
	err = executor.StreamWithContext(ctx, o)
	if cause := context.Cause(ctx); errors.Is(cause, errClosing) {
		return cause
	}
	return err
}

func (s session) executor() (clientremote.Executor, error) {
	tripper, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{UpgradeTransport: s.kubelets.transport, PingPeriod: pingPeriod})
	if err != nil {
		return nil, err
	}
	upgrader := strictUpgrader{clientspdy.NewUpgraderForStreaming(tripper)}
	return clientremote.NewSPDYExecutorForProtocols(tripper, upgrader, http.MethodPost, s.location, remotecommand.StreamProtocolV4Name)
}

// queue turns a function into a TerminalSizeQueue.
type queue func() (width, height uint16, more bool)

// Next implements remotecommand.TerminalSizeQueue.
func (q queue) Next() *clientremote.TerminalSize {
	width, height, more := q()
	if !more {
		return nil
	}
	return &clientremote.TerminalSize{Width: width, Height: height}
}
