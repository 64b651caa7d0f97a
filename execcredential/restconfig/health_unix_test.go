//go:build unix

package restconfig_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"k8s.io/client-go/rest"
)

// wire is a connection that goes silent without an end, as when a machine on the way is gone.
type wire struct {
	net.Conn
	cut    <-chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	select {
	case <-w.cut:
		<-w.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (w *wire) Write(p []byte) (int, error) {
	select {
	case <-w.cut:
		return len(p), nil
	default:
		return w.Conn.Write(p)
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

func TestHealthChecks(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	authority := loginlab.NewAuthority(t)
	server := authority.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	certificate, key := authority.Client(t, "user", time.Now().Add(-time.Hour), 2*time.Hour)
	for kind, answer := range map[string][3]string{"a token": {"t"}, "a certificate": {"", certificate, key}} {
		t.Run("ECR-29 a watch with "+kind+" over a connection that has gone silent ends, as with client-go", func(t *testing.T) {
			plugin := loginlab.NewPlugin(t, "")
			plugin.Status(answer[0], answer[1], answer[2], time.Time{})
			pool, err := transport.NewPool(transport.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			cut := make(chan struct{})
			wrapped, source, err := restconfig.Wrap(&rest.Config{
				Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority.PEM}, ExecProvider: toExec(plugin.Config()),
				Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return &wire{Conn: conn, cut: cut, closed: make(chan struct{})}, nil
				},
			}, pool)
			if err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			client, err := rest.HTTPClientFor(wrapped)
			if err != nil {
				t.Fatal(err)
			}
			const patience = 30 * time.Second // without health checks the watch would last as long
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			watch, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Body.Close()
			close(cut)
			if _, err := io.ReadAll(watch.Body); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the watch ended with %v, want an error of the connection", err)
			}
		})
	}
}
