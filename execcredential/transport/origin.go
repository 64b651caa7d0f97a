package transport

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// origin returns scheme, host and port of an address in one spelling: lower case, the scheme's default port written
// out, an IP address in its shortest form. A trailing dot is kept: a name with it skips the resolver's search list and
// may be another host. The result is empty when the address is not absolute http or https.
func origin(address *url.URL) string {
	scheme, host, port := strings.ToLower(address.Scheme), strings.ToLower(address.Hostname()), address.Port()
	switch {
	case host == "" || scheme != "http" && scheme != "https":
		return ""
	case port == "" && scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// scope is where a round tripper's credential goes. The zero value is anywhere, but not along with a redirect to
// another origin.
type scope struct {
	bound  bool
	origin string // empty in a bound scope: the server had none
	scheme string // with host: a spelling that is known to be of the origin
	host   string
}

func scopeOf(server string) scope {
	address, err := url.Parse(server)
	if err != nil {
		return scope{bound: true}
	}
	return scope{bound: true, origin: origin(address), scheme: address.Scheme, host: address.Host}
}

func (s scope) valid() bool { return s.origin != "" }

// covers reports whether the credential goes with the request. A request that it does not go with is an error,
// [ErrServer] or *[OriginError], unless a redirect brought it there.
func (s scope) covers(req *http.Request) (bool, error) {
	switch {
	case !s.bound && req.Response == nil:
		return true, nil
	case !s.bound:
		return origin(req.URL) == origin(first(req).URL), nil
	case !s.valid():
		return false, ErrServer
	case req.URL.Host == s.host && req.URL.Scheme == s.scheme: // the usual case, without an allocation
		return true, nil
	}
	requested := origin(req.URL)
	switch {
	case requested == s.origin:
		return true, nil
	case req.Response != nil:
		return false, nil
	}
	return false, &OriginError{Server: s.origin, Request: requested}
}

// first returns the request that a chain of redirects began with.
func first(req *http.Request) *http.Request {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req
}
