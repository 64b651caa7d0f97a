//go:build unix

package transport_test

import (
	"context"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// patience bounds what a test waits for; nothing takes this long unless it hangs.
const patience = 30 * time.Second

// clock is a clock that a test moves.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Now().UnixNano())
	return c
}

func (c *clock) Now() time.Time          { return time.Unix(0, c.nanos.Load()) }
func (c *clock) Advance(d time.Duration) { c.nanos.Add(int64(d)) }

func newPool(t testing.TB, options transport.Options) *transport.Pool {
	t.Helper()
	pool, err := transport.NewPool(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

func newSource(t testing.TB, pool *transport.Pool, config execcredential.ExecConfig) *transport.Source {
	t.Helper()
	source, err := pool.Source(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// newClient returns a client of the server with the source's credential.
func newClient(t testing.TB, authority *loginlab.Authority, source *transport.Source, http2 bool) *http.Client {
	t.Helper()
	base, err := transport.Base(execcredential.Cluster{CertificateAuthorityData: authority.PEM})
	if err != nil {
		t.Fatal(err)
	}
	base.ForceAttemptHTTP2 = http2
	rt, err := source.RoundTripper(base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.CloseIdleConnections)
	return &http.Client{Transport: rt}
}

// get returns the status code and body of a request.
func get(t testing.TB, client *http.Client, url string) (int, string) {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// gate is a server that takes one token at a time.
type gate struct {
	mu    sync.Mutex
	token string
	seen  []string // Authorization of each request
}

func (g *gate) take(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.token = token
}

func (g *gate) requests() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.seen...)
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, r.Header.Get("Authorization"))
	if r.Header.Get("Authorization") != "Bearer "+g.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = io.Copy(w, r.Body)
}

func newGate(t testing.TB, authority *loginlab.Authority) (*gate, *httptest.Server) {
	g := &gate{}
	return g, authority.Server(t, g)
}

// eventually waits for a condition that another goroutine or process brings about.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v", what, patience)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// peer returns the common name of a request's client certificate.
func peer(r *http.Request) string {
	var certificates []*x509.Certificate
	if r.TLS != nil {
		certificates = r.TLS.PeerCertificates
	}
	if len(certificates) == 0 {
		return "nobody"
	}
	return certificates[0].Subject.CommonName
}
