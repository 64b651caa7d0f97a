package transport

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
)

// generation is the connections made with one certificate. After it is retired it takes no new request, and when the
// last response in flight is done its connections are closed.
type generation struct {
	identity  *tls.Certificate // nil: no certificate, the base transport itself
	serial    uint64           // that of the first snapshot with this certificate
	transport http.RoundTripper

	mu      sync.Mutex
	flights int
	retired bool
	conns   map[net.Conn]struct{}
}

// generation returns the one for the snapshot's certificate, and retires the one before it. A request that took its
// credential just before a rotation gets the newer one. The usual case takes no lock. The error is the maker's.
func (rt *RoundTripper) generation(snap *snapshot) (*generation, error) {
	if g := rt.current.Load(); g != nil && (g.identity == snap.identity || g.serial > snap.serial) {
		return g, nil
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	before := rt.current.Load()
	if before != nil && (before.identity == snap.identity || before.serial > snap.serial) {
		return before, nil
	}
	next, err := rt.newGeneration(snap)
	if err != nil {
		return nil, err
	}
	rt.current.Store(next)
	if before != nil {
		before.retire()
	}
	return next, nil
}

// through sends the request over the current generation. One that is retired at this moment sends it on to its
// successor.
func (rt *RoundTripper) through(snap *snapshot, req *http.Request) (*http.Response, error) {
	for {
		g, err := rt.generation(snap)
		switch {
		case err != nil:
			closeBody(req)
			return nil, err
		case g.identity == nil:
			return g.transport.RoundTrip(req)
		case g.enter():
			return g.roundTrip(req)
		case rt.owner.closed.Load():
			closeBody(req)
			return nil, ErrClosed
		}
	}
}

// retire is called when the source is closed.
func (rt *RoundTripper) retire() {
	if g := rt.current.Load(); g != nil {
		g.retire()
	}
}

func (rt *RoundTripper) newGeneration(snap *snapshot) (*generation, error) {
	g := &generation{identity: snap.identity, serial: snap.serial, transport: rt.base}
	if g.identity == nil {
		return g, nil
	}
	g.conns = map[net.Conn]struct{}{}
	var err error
	g.transport, err = rt.make(g.identity, g.tracked)
	return g, err
}

// copies returns a maker of copies of base, and of base itself for requests without a certificate.
func copies(base *http.Transport) Maker {
	return func(identity *tls.Certificate, track func(DialFunc) DialFunc) (http.RoundTripper, error) {
		if identity == nil {
			return base, nil
		}
		copied := base.Clone()
		config := &tls.Config{}
		if copied.TLSClientConfig != nil {
			config = copied.TLSClientConfig
		}
		config.Certificates = nil
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return identity, nil }
		if config.ClientSessionCache != nil { // a resumed session would bring back the identity it began with
			config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
		}
		copied.TLSClientConfig = config
		if _, ok := base.TLSNextProto["h2"]; ok { // a transport with a TLS configuration of its own has to ask for HTTP/2,
			copied.ForceAttemptHTTP2 = true
			copied.TLSNextProto = nil // and must not share connections with base, as the functions that x/net/http2 leaves here would
		}
		copied.DialContext = track(dialer(base))
		return copied, nil
	}
}

func dialer(base *http.Transport) DialFunc {
	switch {
	case base.DialContext != nil:
		return base.DialContext
	//lint:ignore SA1019 a caller may still use it
	case base.Dial != nil:
		//lint:ignore SA1019 as above
		return func(_ context.Context, network, address string) (net.Conn, error) { return base.Dial(network, address) }
	}
	return (&net.Dialer{}).DialContext
}

// tracked remembers the connections that dial makes, so that none outlives a retired generation.
func (g *generation) tracked(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		tracked := &trackedConn{Conn: conn, owner: g}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.conns[tracked] = struct{}{}
		return tracked, nil
	}
}

type trackedConn struct {
	net.Conn
	owner *generation
}

// Close forgets the connection.
func (c *trackedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// enter counts a request; false when the generation takes no more.
func (g *generation) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.retired {
		return false
	}
	g.flights++
	return true
}

// roundTrip sends a request that has been counted.
func (g *generation) roundTrip(req *http.Request) (*http.Response, error) {
	response, err := g.transport.RoundTrip(req)
	if err != nil {
		g.leave()
		return nil, err
	}
	response.Body = countedBody(response.Body, g.leave)
	return response, nil
}

func (g *generation) leave() {
	g.mu.Lock()
	g.flights--
	done := g.retired && g.flights == 0
	g.mu.Unlock()
	if done {
		g.hangUp()
	}
}

func (g *generation) retire() {
	g.mu.Lock()
	g.retired = true
	done := g.flights == 0
	g.mu.Unlock()
	closeIdle(g.transport)
	if done {
		g.hangUp()
	}
}

// hangUp closes what is left. HTTP/2 may count a stream that has just ended as open, so that its connection is not idle
// yet.
func (g *generation) hangUp() {
	if g.identity == nil {
		return
	}
	closeIdle(g.transport)
	g.mu.Lock()
	conns := make([]net.Conn, 0, len(g.conns))
	for conn := range g.conns {
		conns = append(conns, conn)
	}
	g.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
	}
}

// countedBody calls done once, when the body is closed. A body that can be written to, as after an upgrade, stays so.
func countedBody(body io.ReadCloser, done func()) io.ReadCloser {
	counted := &bodyCounter{ReadCloser: body, done: done}
	if writer, ok := body.(io.Writer); ok {
		return &upgradedBody{bodyCounter: counted, Writer: writer}
	}
	return counted
}

type bodyCounter struct {
	io.ReadCloser
	once sync.Once
	done func()
}

// Close closes the body and counts it.
func (b *bodyCounter) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.done)
	return err
}

type upgradedBody struct {
	*bodyCounter
	io.Writer
}
