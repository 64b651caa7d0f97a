package transport

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
)

// RoundTripper adds a source's credential to requests. It keeps the contract of [http.RoundTripper]: the caller's request is not
// changed. A request that brings its own Authorization header goes out as it is, and the plugin is not run for it.
type RoundTripper struct {
	source *shared
	base   http.RoundTripper
	pooled *http.Transport // base, when certificates are this round tripper's business
	scheme string          // with host: where the credential goes; empty is anywhere
	host   string

	mu      sync.Mutex
	current atomic.Pointer[generation]
	closed  atomic.Bool
}

// RoundTripper returns a round tripper over base, for tokens and certificates. Requests with a certificate go through copies of base, one for each
// certificate in turn; base itself carries the others, and is not changed.
//
// When the source was given cluster information the credential goes to that server only, whatever a redirect says. Use
// [RoundTripper.OnlyTo] where it was not. The error is [ErrCustomTLS] when base dials TLS itself.
func (s *Source) RoundTripper(base *http.Transport) (*RoundTripper, error) {
	//lint:ignore SA1019 the old field counts as well
	if base.DialTLSContext != nil || base.DialTLS != nil {
		return nil, ErrCustomTLS
	}
	return s.remember(&RoundTripper{source: s.shared, base: base, pooled: base}), nil
}

// Wrap returns a round tripper that sets tokens over any base. Certificates are the caller's business, with [Source.GetClientCertificate].
func (s *Source) Wrap(base http.RoundTripper) *RoundTripper {
	return s.remember(&RoundTripper{source: s.shared, base: base})
}

func (s *Source) remember(rt *RoundTripper) *RoundTripper {
	if s.cluster != nil {
		rt.bind(s.cluster.Server)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(s.made, rt)
	return rt
}

// OnlyTo keeps the credential from every other scheme, host and port than those of server. Requests elsewhere go out without it. It returns rt, and has to
// be called before the first request. A server that is no absolute URL matches nothing.
func (rt *RoundTripper) OnlyTo(server string) *RoundTripper {
	rt.bind(server)
	return rt
}

func (rt *RoundTripper) bind(server string) {
	rt.scheme, rt.host = "-", "-"
	if parsed, err := url.Parse(server); err == nil && parsed.Host != "" {
		rt.scheme, rt.host = parsed.Scheme, parsed.Host
	}
}

// RoundTrip sends a copy of the request with the credential. Errors are those of [Source.Credential] and of
// the base, and [ErrClosed] after the source's Close. A 401
// runs the plugin again, whatever the expiry says; the caller sees the 401 unless Options.Repeat is set and the body can be had again.
func (rt *RoundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(req.Header["Authorization"]) > 0 || rt.host != "" && (req.URL.Host != rt.host || req.URL.Scheme != rt.scheme) {
		return rt.base.RoundTrip(req)
	}
	if rt.closed.Load() {
		closeBody(req)
		return nil, ErrClosed
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

// refused runs the plugin again after a 401, and sends the request again when it may.
func (rt *RoundTripper) refused(snap *snapshot, req *http.Request, response *http.Response) (*http.Response, error) {
	rt.source.refuse(snap)
	next, err := rt.source.acquire(req.Context())
	if err != nil || !rt.source.pool.options.Repeat {
		return response, nil // the 401 is what the server said; why there is no new credential the next request learns
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

// replay returns the request with a fresh body, when it can be had.
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

// send sends a copy of the request with the snapshot's parts. A shallow copy with a header map of its own is enough for the contract
// and costs a third of Request.Clone.
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
	if rt.pooled == nil {
		return rt.base.RoundTrip(req)
	}
	return rt.through(snap, req)
}

// CloseIdleConnections closes the idle connections of the base and of the current certificate.
func (rt *RoundTripper) CloseIdleConnections() {
	if closer, ok := rt.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
	if g := rt.current.Load(); g != nil {
		g.transport.CloseIdleConnections()
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
