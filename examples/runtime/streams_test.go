package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	criapi "k8s.io/cri-streaming/pkg/streaming"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// TestAttach connects to the container's own streams, in both runtimes.
func TestAttach(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		t.Run("STK-2 EXA-18 attach carries the container's own streams", func(t *testing.T) {
			c := startSleeper(t, n.Node)
			c = c.Pod.Start(t, c.Config.GetImage().GetImage(), cmd("echo"), func(c *runtimeapi.ContainerConfig) {
				c.Stdin, c.StdinOnce = true, true
			})
			in, typed := io.Pipe()
			shown, out := io.Pipe()
			done := make(chan error, 1)
			go func() {
				done <- attach(t, c, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: io.Discard})
			}()
			if _, err := io.WriteString(typed, "hello\n"); err != nil {
				t.Fatal(err)
			}
			awaitText(t, shown, "hello\n")
			typed.Close()
			if err := <-done; err != nil {
				t.Errorf("attach ends with %v", err)
			}
			if got := c.Ended(t); got.GetExitCode() != 0 {
				t.Errorf("exit code = %d, want 0: its input ended with the first attach", got.GetExitCode())
			}
			waitForLog(t, c, "hello")
		})
		t.Run("STK-2 attach to a terminal, with its size", func(t *testing.T) {
			c := startSleeper(t, n.Node)
			c = c.Pod.Start(t, c.Config.GetImage().GetImage(), cmd("size"), func(c *runtimeapi.ContainerConfig) { c.Stdin, c.Tty = true, true })
			times := uint16(1)
			if n.name == "lanyard" {
				times = 50 // what the size has the process say is never said before the client hears it
			}
			for height := range times {
				showsSize(t, c, remotecommand.TerminalSize{Width: 99, Height: 33 + height})
			}
			if got := c.Status(t); got.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING {
				t.Error("the container ended with its spectator")
			}
		})
	})
}

// showsSize attaches to a process that says its terminal's size whenever that changes.
func showsSize(t *testing.T, c *runtimetest.Container, size remotecommand.TerminalSize) {
	t.Helper()
	sizes := make(queue, 1)
	sizes <- size
	defer close(sizes)
	shown, out := io.Pipe()
	ctx, cancel := context.WithCancel(runtimetest.Context(t))
	defer cancel()
	defer context.AfterFunc(ctx, func() { out.CloseWithError(ctx.Err()) })()
	done := make(chan error, 1)
	go func() {
		done <- attachContext(ctx, c, remotecommand.StreamOptions{Stdin: blocked(ctx), Stdout: out, Tty: true, TerminalSizeQueue: sizes})
	}()
	awaitText(t, shown, fmt.Sprintf("%d %d", size.Height, size.Width))
	cancel()
	<-done
}

// blocked is an input on which nothing ever comes.
func blocked(ctx context.Context) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.Close() })
	return r
}

func attach(t *testing.T, c *runtimetest.Container, o remotecommand.StreamOptions) error {
	return attachContext(runtimetest.Context(t), c, o)
}

func attachContext(ctx context.Context, c *runtimetest.Container, o remotecommand.StreamOptions) error {
	resp, err := c.Node.Attach(ctx, &runtimeapi.AttachRequest{
		ContainerId: c.ID, Stdin: o.Stdin != nil, Stdout: o.Stdout != nil, Stderr: o.Stderr != nil, Tty: o.Tty,
	})
	if err != nil {
		return err
	}
	e, err := runtimetest.Executor(runtimetest.SPDY, resp.GetUrl())
	if err != nil {
		return err
	}
	return e.StreamWithContext(ctx, o)
}

// TestPortForward reaches a port of the pod. containerd's pods share the host's network here, and ours has one of its
// own.
func TestPortForward(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		t.Run("STK-2 port-forward reaches the pod's loopback", func(t *testing.T) {
			c := startSleeper(t, n.Node)
			pod := c.Pod
			if n.name == "lanyard" {
				pod = n.RunPod(t, ownNetwork)
			}
			port := freePort(t)
			c = pod.Start(t, c.Config.GetImage().GetImage(), cmd("listen", strconv.Itoa(port)))
			waitForLog(t, c, "listening")
			resp, err := n.PortForward(runtimetest.Context(t), &runtimeapi.PortForwardRequest{PodSandboxId: pod.ID, Port: []int32{int32(port)}})
			if err != nil {
				t.Fatal(err)
			}
			if got := throughPort(t, resp.GetUrl(), port, "ping"); got != "ping" {
				t.Errorf("the pod answers %q", got)
			}
		})
	})
}

func ownNetwork(c *runtimeapi.PodSandboxConfig) {
	c.Hostname = "a-pod"
	c.Linux.SecurityContext.NamespaceOptions.Network = runtimeapi.NamespaceMode_POD
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// throughPort sends text to the pod's port by way of client-go's port forwarder and returns the answer.
func throughPort(t *testing.T, at string, port int, text string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	rt, upgrader, err := spdy.RoundTripperFor(&rest.Config{Host: u.Host})
	if err != nil {
		t.Fatal(err)
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	f, err := portforward.NewOnAddresses(spdy.NewDialer(upgrader, &http.Client{Transport: rt}, "POST", u),
		[]string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- f.ForwardPorts() }()
	defer func() {
		close(stop)
		<-ended
	}()
	<-ready
	ports, err := f.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local))))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len(text))
	if _, err := io.ReadFull(c, answer); err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// TestTokens has what may not be done with a stream's URL.
func TestTokens(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		c := startSleeper(t, n.Node)
		open := func(t *testing.T, at string) error {
			e, err := runtimetest.Executor(runtimetest.SPDY, at)
			if err != nil {
				t.Fatal(err)
			}
			return e.StreamWithContext(runtimetest.Context(t), remotecommand.StreamOptions{Stdout: io.Discard, Stderr: io.Discard})
		}
		ask := func(t *testing.T) string {
			resp, err := n.Exec(runtimetest.Context(t), &runtimeapi.ExecRequest{ContainerId: c.ID, Cmd: cmd(), Stdout: true, Stderr: true})
			if err != nil {
				t.Fatal(err)
			}
			return resp.GetUrl()
		}
		t.Run("STK-2 a token is good for one stream", func(t *testing.T) {
			at := ask(t)
			if err := open(t, at); err != nil {
				t.Fatal(err)
			}
			if err := open(t, at); !notFound(err) {
				t.Errorf("second use = %v, want 404", err)
			}
		})
		t.Run("STK-2 of two clients at once one gets the stream", func(t *testing.T) {
			at := ask(t)
			var wg sync.WaitGroup
			errs := make([]error, 2)
			for i := range errs {
				wg.Go(func() { errs[i] = open(t, at) })
			}
			wg.Wait()
			if (errs[0] == nil) == (errs[1] == nil) || !notFound(errors.Join(errs...)) {
				t.Errorf("errors = %v, want one, a 404", errs)
			}
		})
		t.Run("STK-2 a token that nobody was given is refused", func(t *testing.T) {
			at := ask(t)
			if err := open(t, at[:len(at)-8]+"AAAAAAAA"); !notFound(err) {
				t.Errorf("made-up token = %v, want 404", err)
			}
		})
	})
}

// TestTokenLate uses a token after its time, in a bubble whose clock goes on at once. The token is cri-streaming's own.
func TestTokenLate(t *testing.T) {
	t.Run("STK-2 EXA-36 a token that is used too late is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			config := criapi.DefaultConfig
			config.Addr = "127.0.0.1:1" // nobody listens there
			server, err := criapi.NewServer(config, nil)
			if err != nil {
				t.Fatal(err)
			}
			packed, err := streaming.Pack(&runtimeapi.ExecRequest{ContainerId: "c", Cmd: cmd(), Stdout: true})
			if err != nil {
				t.Fatal(err)
			}
			resp, err := server.GetExec(packed)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			answer := httptest.NewRecorder()
			server.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, resp.GetUrl(), nil))
			if answer.Code != http.StatusNotFound {
				t.Errorf("late use = %d, want 404", answer.Code)
			}
		})
	})
}

func notFound(err error) bool {
	return err != nil && strings.Contains(err.Error(), "404")
}

// TestClientGone lets clients vanish in the middle of a session.
func TestClientGone(t *testing.T) {
	n := lanyard(t)
	c := startSleeper(t, n.Node)
	for _, tt := range []struct {
		name string
		s    *runtimetest.Session
	}{
		{"silent process", &runtimetest.Session{Cmd: cmd("ignore")}},
		{"silent process with a terminal", &runtimetest.Session{Cmd: cmd("ignore"), TTY: true}},
		{"flooding process", &runtimetest.Session{Cmd: cmd("flood", "1000000000000")}},
	} {
		t.Run("STK-2 the process ends with its client: "+tt.name, func(t *testing.T) {
			before := len(processes(t, c))
			ctx, cancel := context.WithCancel(runtimetest.Context(t))
			shown, out := io.Pipe()
			tt.s.Stdout = out
			done := make(chan error, 1)
			go func() { done <- c.Exec(ctx, tt.s) }()
			if _, err := shown.Read(make([]byte, 4)); err != nil {
				t.Fatal(err)
			}
			go io.Copy(io.Discard, shown)
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("client sees %v", err)
			}
			runtimetest.Eventually(t, "the process is gone", func() bool { return len(processes(t, c)) == before })
		})
	}
}

// TestSlowReader reads a flood at a trickle.
func TestSlowReader(t *testing.T) {
	c := startSleeper(t, lanyard(t).Node)
	t.Run("STK-2 a flood waits for a slow reader and loses nothing", func(t *testing.T) {
		for _, protocol := range protocols {
			const total = 1 << 20
			slow := &trickle{pause: 2 * time.Millisecond}
			s := c.MustExec(t, &runtimetest.Session{Cmd: cmd("flood", strconv.Itoa(total), strconv.Itoa(1<<20)), Stdout: slow, Protocol: protocol})
			if slow.bytes != total {
				t.Errorf("%s: %d bytes arrived of %d; code %d, stderr %q", protocol, slow.bytes, total, s.Code, s.Err.String())
			}
		}
	})
	t.Run("STK-2 a spectator who reads nothing does not stop the container", func(t *testing.T) {
		flood := c.Pod.Start(t, c.Config.GetImage().GetImage(), cmd("flood", strconv.Itoa(16<<20)))
		ctx, cancel := context.WithCancel(runtimetest.Context(t))
		defer cancel()
		asleep, out := io.Pipe()
		defer asleep.Close()
		done := make(chan error, 1)
		go func() { done <- attachContext(ctx, flood, remotecommand.StreamOptions{Stdout: out}) }()
		if got := flood.Ended(t); got.GetExitCode() != 0 {
			t.Errorf("exit code = %d", got.GetExitCode())
		}
		cancel()
		asleep.Close()
		<-done
	})
}

// trickle takes its time over every chunk.
type trickle struct {
	bytes int
	pause time.Duration
}

func (w *trickle) Write(p []byte) (int, error) {
	time.Sleep(w.pause)
	w.bytes += len(p)
	return len(p), nil
}

// TestManySessions opens 200 exec sessions at once.
func TestManySessions(t *testing.T) {
	c := startSleeper(t, lanyard(t).Node)
	t.Run("STK-2 EXA-23 200 sessions at once, each with its own environment", func(t *testing.T) {
		before := len(processes(t, c))
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				id := "id-" + strconv.Itoa(i)
				s := &runtimetest.Session{Cmd: cmd(), Env: auditID(id)}
				if err := c.Exec(runtimetest.Context(t), s); err != nil {
					t.Error(err)
					return
				}
				checkAuditID(t, s, id)
			})
		}
		wg.Wait()
		runtimetest.Eventually(t, "all processes are gone", func() bool { return len(processes(t, c)) == before })
	})
}
