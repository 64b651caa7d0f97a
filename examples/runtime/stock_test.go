package runtime_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"

	clientcommand "k8s.io/client-go/tools/remotecommand"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	criapi "k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// stockBackend is a streaming backend as containerd's and CRI-O's are, with the environment taken from the container ID.
// Like CRI-O's it goes on with a context of its own.
type stockBackend struct {
	criapi.Runtime
	own context.Context
	run func(ctx context.Context, containerID string, environ []string)
}

func (b stockBackend) Exec(_ context.Context, packed string, _ []string, _ io.Reader, _, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	containerID, environ, err := streaming.Unpack(packed)
	if err != nil {
		return err
	}
	b.run(b.own, containerID, environ)
	return nil
}

// startStock starts cri-streaming's server by its own Start, as containerd and CRI-O do: nothing stands around its
// handler.
func startStock(t *testing.T, backend criapi.Runtime) criapi.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := criapi.DefaultConfig
	config.Addr = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	server, err := criapi.NewServer(config, backend)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Start(true) }()
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	runtimetest.Eventually(t, "the streaming server answers", func() bool {
		resp, err := http.Get("http://" + config.Addr)
		return err == nil && resp.Body.Close() == nil
	})
	return server
}

// openStream is a client of one exec session.
func openStream(t *testing.T, at string) error {
	t.Helper()
	client, err := runtimetest.Executor(runtimetest.SPDY, at)
	if err != nil {
		t.Fatal(err)
	}
	return client.StreamWithContext(runtimetest.Context(t), clientcommand.StreamOptions{Stdout: io.Discard})
}

// session is what a stock backend was asked to run.
type session struct {
	containerID string
	environ     []string
}

func TestStockStreamingServer(t *testing.T) {
	type contextKey struct{}
	own := context.WithValue(context.Background(), contextKey{}, "the runtime's own")
	ran := make(chan session, 1)
	server := startStock(t, stockBackend{own: own, run: func(ctx context.Context, containerID string, environ []string) {
		if ctx.Value(contextKey{}) == nil {
			t.Error("the session runs with the stream's context")
		}
		ran <- session{containerID, environ}
	}})
	request := func() *runtimeapi.ExecRequest {
		req := &runtimeapi.ExecRequest{ContainerId: "8762eafc25a3", Cmd: cmd(), Stdout: true}
		if err := criwire.Write(req, auditEnv); err != nil {
			t.Fatal(err)
		}
		return req
	}
	getExec := func(req *runtimeapi.ExecRequest) string {
		t.Helper()
		resp, err := server.GetExec(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp.GetUrl()
	}
	mustPack := func(req *runtimeapi.ExecRequest) *runtimeapi.ExecRequest {
		t.Helper()
		packed, err := streaming.Pack(req)
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
	want, err := criwire.Environ(request())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("EXA-36 the environment reaches the backend of a server that Start serves, whatever its context", func(t *testing.T) {
		at := getExec(mustPack(request()))
		if err := openStream(t, at); err != nil {
			t.Fatal(err)
		}
		if got := <-ran; got.containerID != "8762eafc25a3" || !slices.Equal(got.environ, want) {
			t.Errorf("ran with %+v, want %q", got, want)
		}
		if err := openStream(t, at); err == nil || len(ran) > 0 {
			t.Errorf("a second stream at the same URL: %v, ran %d", err, len(ran))
		}
	})
	t.Run("EXA-36 a session without an environment", func(t *testing.T) {
		if err := openStream(t, getExec(mustPack(&runtimeapi.ExecRequest{ContainerId: "c", Cmd: cmd(), Stdout: true}))); err != nil {
			t.Fatal(err)
		}
		if got := <-ran; got.containerID != "c" || got.environ != nil {
			t.Errorf("ran with %+v", got)
		}
	})
	t.Run("EXA-36 a request that nobody packed does not run, so no audit ID is lost silently", func(t *testing.T) {
		if err := openStream(t, getExec(request())); err == nil || len(ran) > 0 {
			t.Errorf("stream = %v, ran %d", err, len(ran))
		}
	})
	t.Run("EXA-36 what the server refuses, it refuses packed too", func(t *testing.T) {
		for _, req := range []*runtimeapi.ExecRequest{{ContainerId: "c", Cmd: cmd()}, {ContainerId: "c", Tty: true, Stdout: true, Stderr: true}} {
			_, want := server.GetExec(req)
			if _, err := server.GetExec(mustPack(req)); want == nil || err == nil || err.Error() != want.Error() {
				t.Errorf("GetExec = %v, of the request as it came %v", err, want)
			}
		}
		if packed, err := streaming.Pack(&runtimeapi.ExecRequest{Stdout: true}); packed != nil || !errors.Is(err, streaming.ErrContainerID) {
			t.Errorf("Pack without a container = %v, %v", packed, err)
		}
	})
}
