package transport

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// RoundTripper adds a source's credential to requests, and the headers of its impersonation. It keeps the contract of
// [http.RoundTripper]: the caller's request is not changed. A request that brings its own Authorization header keeps
// it, and the plugin is not run for it.
type RoundTripper struct {
	source *shared
	owner  *Source
	base   http.RoundTripper
	make   Maker            // how certificates reach a server: of new transports, or
	dials  *dialCertificate // of the TLS configuration that base dials with, or, with neither, not at all
	scope  scope
	bare   bool // certificates are the caller's business

	mu      sync.Mutex
	current atomic.Pointer[generation]
}

// Maker makes the transport for requests with a client certificate, nil for those without: its new connections present
// that certificate and no other. With one it has to make connections by what track returns for the way it would dial,
// so that none outlives the certificate. It is called once for each certificate in turn.
type Maker func(certificate *tls.Certificate, track func(DialFunc) DialFunc) (http.RoundTripper, error)

// DialFunc is the type of [http.Transport]'s field DialContext.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// RoundTripper returns a round tripper over base, for tokens and certificates. Requests with a certificate go through
// copies of base, one for each certificate in turn; base itself carries the others, and is not changed. A base that
// golang.org/x/net/http2 has prepared speaks HTTP/2 in its copies too, by the settings of its field HTTP2.
//
// When the source was given cluster information the credential goes to that server only, as with [RoundTripper.OnlyTo].
// The error is [ErrCustomTLS] when base dials TLS itself.
func (s *Source) RoundTripper(base *http.Transport) (*RoundTripper, error) {
	//lint:ignore SA1019 the old field counts as well
	if base.DialTLSContext != nil || base.DialTLS != nil {
		return nil, ErrCustomTLS
	}
	return s.RoundTripperOf(copies(base))
}

// RoundTripperOf is [Source.RoundTripper] for transports that maker makes. The error is that of making the first, which
// carries requests without a certificate; errors of making later ones are those of RoundTrip.
func (s *Source) RoundTripperOf(maker Maker) (*RoundTripper, error) {
	base, err := maker(nil, nil)
	if err != nil {
		return nil, err
	}
	rt := s.newRoundTripper(base)
	rt.make = maker
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(s.made, rt)
	return rt, nil
}

// Wrap returns a round tripper that sets tokens over any base. Certificates are the caller's business, with
// [Source.GetClientCertificate].
func (s *Source) Wrap(base http.RoundTripper) *RoundTripper {
	rt := s.newRoundTripper(base)
	rt.bare = true
	return rt
}

func (s *Source) newRoundTripper(base http.RoundTripper) *RoundTripper {
	rt := &RoundTripper{source: s.shared, owner: s, base: base}
	if s.cluster != nil {
		rt.scope = scopeOf(s.cluster.Server)
	}
	return rt
}

// OnlyTo binds the credential to the origin of server: scheme, host and port, where the case, a default port that is
// left out and the spelling of an IP address make no difference. It returns rt, and has to be called before the first
// request.
//
// A request for another origin is an *[OriginError] and is not sent, unless it brings its own Authorization header; one
// that a redirect brought there goes without the credential. With a server that is not an absolute http or https URL
// every request is [ErrServer].
func (rt *RoundTripper) OnlyTo(server string) *RoundTripper {
	rt.scope = scopeOf(server)
	return rt
}

// RoundTrip sends a copy of the request with the credential. Errors are those of [Source.Credential], of the base and
// of a [Maker], *[OriginError] and [ErrServer] as [RoundTripper.OnlyTo] says, [ErrNoTLS], and [ErrClosed] after the
// source's Close. A 401 runs the plugin again, whatever the expiry says; the caller sees the 401 unless Options.Repeat
// is set and the body can be read again.
func (rt *RoundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	covered, err := rt.scope.covers(req)
	own := len(req.Header["Authorization"]) > 0
	if covered {
		req = rt.owner.impersonate.apply(req)
	}
	switch {
	case own || err == nil && !covered:
		return rt.sendBare(req)
	case err == nil && rt.owner.closed.Load():
		err = ErrClosed
	}
	if err != nil {
		closeBody(req)
		return nil, err
	}
	snap, err := rt.source.acquire(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	response, err := rt.send(snap, req)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusUnauthorized {
		if !snap.accepted.Load() {
			snap.accepted.Store(true)
		}
		return response, nil
	}
	return rt.refused(snap, req, response)
}

// sendBare sends a request without the source's credential.
func (rt *RoundTripper) sendBare(req *http.Request) (*http.Response, error) {
	if rt.dials != nil {
		rt.dials.present(nil)
	}
	return rt.base.RoundTrip(req)
}

// refused runs the plugin again after a 401, and sends the request again when it may.
func (rt *RoundTripper) refused(snap *snapshot, req *http.Request, response *http.Response) (*http.Response, error) {
	rt.source.refuse(snap)
	next, err := rt.source.acquire(req.Context())
	if err != nil || !rt.source.pool.options.Repeat {
		return response, nil // the 401 is what the server said; the next request is told why there is no new credential
	}
	again, ok := replay(req)
	if !ok {
		return response, nil
	}
	discard(response.Body)
	response, err = rt.send(next, again)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusUnauthorized:
		rt.source.refuse(next)
	default:
		next.accepted.Store(true)
	}
	return response, nil
}

// replay returns the request with a fresh body, when there can be one.
func replay(req *http.Request) (*http.Request, bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again := new(http.Request)
	*again = *req
	again.Body = body
	return again, true
}

// send sends a copy of the request with the snapshot's parts. A shallow copy with a header map of its own is enough for
// the contract and costs a third of Request.Clone.
func (rt *RoundTripper) send(snap *snapshot, req *http.Request) (*http.Response, error) {
	if snap.header != nil {
		header := maps.Clone(req.Header) // the runtime copies a small map without hashing its keys
		if header == nil {
			header = http.Header{}
		}
		header["Authorization"] = snap.header
		copied := new(http.Request)
		*copied = *req
		copied.Header = header
		req = copied
	}
	switch {
	case rt.make != nil:
		return rt.through(snap, req)
	case rt.dials != nil:
		rt.dials.present(snap.identity)
	case snap.identity != nil && !rt.bare:
		closeBody(req)
		return nil, ErrNoTLS
	}
	return rt.base.RoundTrip(req)
}

// CloseIdleConnections closes the idle connections of the base and of the current certificate.
func (rt *RoundTripper) CloseIdleConnections() {
	closeIdle(rt.base)
	if g := rt.current.Load(); g != nil {
		closeIdle(g.transport)
	}
}

// closeIdle closes the idle connections of the first transport in a chain of wrappers that can.
func closeIdle(rt http.RoundTripper) {
	for rt != nil {
		if closer, ok := rt.(interface{ CloseIdleConnections() }); ok {
			closer.CloseIdleConnections()
			return
		}
		wrapper, ok := rt.(interface{ WrappedRoundTripper() http.RoundTripper })
		if !ok {
			return
		}
		rt = wrapper.WrappedRoundTripper()
	}
}

// WrappedRoundTripper returns the base, for callers that walk a chain as client-go does.
func (rt *RoundTripper) WrappedRoundTripper() http.RoundTripper { return rt.base }

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// discard reads a short body to its end, so that the connection can be used again.
func discard(body io.ReadCloser) {
	const most = 64 << 10 // 64 KiB
	_, _ = io.CopyN(io.Discard, body, most)
	body.Close()
}
