package apiserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/component-base/featuregate"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/gates"
)

// stubKubelet records what the API server asks and answers with real streams. It accepts one client certificate only.
type stubKubelet struct {
	server *httptest.Server
	host   string
	port   int32

	released chan struct{} // closed, lets the program "wait" end
	release  func()

	mu       sync.Mutex
	conns    []net.Conn
	requests []*url.URL
	users    []string
	headers  []http.Header
}

func newStubKubelet(t testing.TB, authority *ca.Authority) *stubKubelet {
	t.Helper()
	k := &stubKubelet{released: make(chan struct{})}
	k.release = sync.OnceFunc(func() { close(k.released) })
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/", k.exec)
	mux.HandleFunc("/attach/", k.attach)
	mux.HandleFunc("/portForward/", k.portForward)
	mux.HandleFunc("/containerLogs/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "a line of log") })
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	k.server = httptest.NewUnstartedServer(k.record(mux))
	k.server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.conns = append(k.conns, conn)
		return ctx
	}
	k.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	certificate := must(must(authority.Server("127.0.0.1"))(t).TLS())(t)
	k.server.TLS = &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientCAs: authority.Pool(), ClientAuth: tls.RequireAndVerifyClientCert,
	}
	k.server.StartTLS()
	t.Cleanup(func() {
		k.release()
		k.server.CloseClientConnections()
		k.server.Close()
	})
	k.host, k.port = splitAddress(t, k.server.Listener.Addr().String())
	return k
}

func (k *stubKubelet) address() (string, int32) { return k.host, k.port }

func (k *stubKubelet) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		k.requests = append(k.requests, r.URL)
		k.users = append(k.users, r.TLS.PeerCertificates[0].Subject.CommonName)
		k.headers = append(k.headers, r.Header.Clone())
		k.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// cut breaks every connection, those of sessions included.
func (k *stubKubelet) cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, conn := range k.conns {
		_ = conn.Close()
	}
	k.conns = nil
}

// last returns the latest request and the user of its certificate.
func (k *stubKubelet) last(t testing.TB) (*url.URL, string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.requests) == 0 {
		t.Fatal("the kubelet was not asked")
	}
	return k.requests[len(k.requests)-1], k.users[len(k.users)-1]
}

func (k *stubKubelet) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.requests)
}

func (k *stubKubelet) exec(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, program{r.URL.Query()["env"], k.released}, "", "", "", r.URL.Query()["command"], options,
		time.Minute, time.Minute, protocols)
}

func (k *stubKubelet) attach(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeAttach(w, r, attached{}, "", "", "", options, time.Minute, time.Minute, protocols)
}

func (k *stubKubelet) portForward(w http.ResponseWriter, r *http.Request) {
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, echo{}, "", "", options, time.Minute, time.Minute, []string{"portforward.k8s.io"})
}

var protocols = []string{"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"}

// program is what runs instead of a container's program; it knows the environment that came in the URL.
type program struct {
	env  []string
	stop <-chan struct{}
}

func (p program) ExecInContainer(_ context.Context, _, _, _ string, command []string, in io.Reader, out, _ io.WriteCloser,
	tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	switch command[0] {
	case "env":
		_, err := fmt.Fprintln(out, strings.Join(p.env, "\n"))
		return err
	case "cat":
		_, err := io.Copy(out, in)
		return err
	case "exit":
		return utilexec.CodeExitError{Err: errors.New("exited"), Code: 3}
	case "size":
		size := <-resize
		_, err := fmt.Fprintf(out, "tty=%v %dx%d\n", tty, size.Width, size.Height)
		return err
	case "wait":
		fmt.Fprintln(out, "waiting")
		<-p.stop
		return nil
	}
	return fmt.Errorf("%q: no such program", command[0])
}

type attached struct{}

func (attached) AttachContainer(_ context.Context, _, _, _ string, _ io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	_, err := fmt.Fprintln(out, "attached")
	return err
}

type echo struct{}

func (echo) PortForward(_ context.Context, _, _ string, _ int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	line := make([]byte, 64)
	n, err := stream.Read(line)
	if err != nil {
		return err
	}
	_, err = stream.Write(line[:n])
	return err
}

// gateSet returns the API server's gates of a minor version with some set.
func gateSet(t testing.TB, minor int, set string) featuregate.MutableVersionedFeatureGate {
	t.Helper()
	g := must(gates.APIServer(minor))(t)
	if err := g.Set(set); err != nil {
		t.Fatal(err)
	}
	return g
}
