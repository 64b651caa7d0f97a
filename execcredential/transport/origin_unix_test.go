//go:build unix

package transport_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// headerLog is a base that keeps the headers of what it is given, and answers 200.
type headerLog struct{ seen []http.Header }

func (r *headerLog) RoundTrip(req *http.Request) (*http.Response, error) {
	r.seen = append(r.seen, req.Header)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// newTokenSource returns a source whose plugin answers the token "t".
func newTokenSource(t *testing.T, change ...func(*execcredential.ExecConfig)) *transport.Source {
	t.Helper()
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	config := plugin.Config()
	for _, f := range change {
		f(&config)
	}
	return newSource(t, newPool(t, transport.Options{}), config)
}

// request returns a request, of a client that may have followed redirects from the other addresses.
func request(t *testing.T, url string, from ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(from) > 0 {
		req.Response = &http.Response{Request: request(t, from[0], from[1:]...)}
	}
	return req
}

func TestOnlyToComparesOrigins(t *testing.T) {
	source := newTokenSource(t)
	cases := []struct {
		name, server, url string
		same              bool
	}{
		{"the default port of https", "https://h", "https://h:443/x", true},
		{"the default port of https, in the server", "https://h:443", "https://h/x", true},
		{"the default port of http", "http://h:80", "http://h/x", true},
		{"an empty port is the default", "https://h:", "https://h/x", true},
		{"the case of the host", "https://Kube.Example", "https://kube.example/x", true},
		{"the case of the scheme", "HTTPS://h", "https://h/x", true},
		{"a path in the server", "https://h/prefix", "https://h/other", true},
		{"spellings of an IPv6 address", "https://[0:0:0:0:0:0:0:1]:443", "https://[::1]/x", true},
		{"the case of an IPv6 address", "https://[2001:DB8::A]", "https://[2001:db8::a]:443/x", true},
		{"a user in the address", "https://u@h", "https://h/x", true},
		{"another port", "https://h", "https://h:8443/x", false},
		{"the default port of the other scheme", "https://h", "https://h:80/x", false},
		{"another scheme", "https://h", "http://h/x", false},
		{"another scheme at the same port", "https://h:443", "http://h:443/x", false},
		{"another host", "https://h", "https://i/x", false},
		{"a host that begins alike", "https://h", "https://h.evil/x", false},
		{"a name that only resolves alike: a trailing dot skips the search list", "https://h", "https://h./x", false},
		{"an IPv4 address in IPv6", "https://127.0.0.1", "https://[::ffff:127.0.0.1]/x", false},
		{"another zone", "https://[fe80::1%25a]", "https://[fe80::1%25b]/x", false},
	}
	for _, c := range cases {
		t.Run("ECR-28 "+c.name, func(t *testing.T) {
			base := &headerLog{}
			response, err := source.Wrap(base).OnlyTo(c.server).RoundTrip(request(t, c.url))
			if c.same {
				if err != nil || len(base.seen) != 1 || base.seen[0].Get("Authorization") != "Bearer t" {
					t.Fatalf("RoundTrip(%s) = %v, %v, headers %v, want the credential of %s", c.url, response, err, base.seen, c.server)
				}
				return
			}
			var other *transport.OriginError
			if !errors.As(err, &other) || len(base.seen) != 0 {
				t.Errorf("RoundTrip(%s) = %v, headers %v, want *OriginError and nothing sent", c.url, err, base.seen)
			}
		})
	}
}

func TestServerWithoutOrigin(t *testing.T) {
	for _, server := range []string{"", "h", "h:443", "127.0.0.1:6443", "localhost:8443", "/path", "ftp://h", "https://", "https://u:sesame@h:x", ":"} {
		t.Run("ECR-28 "+server+" is no origin: an error, not a request without credential", func(t *testing.T) {
			source, base := newTokenSource(t), &headerLog{}
			_, err := source.Wrap(base).OnlyTo(server).RoundTrip(request(t, "https://h/x"))
			if !errors.Is(err, transport.ErrServer) || len(base.seen) != 0 {
				t.Errorf("RoundTrip = %v, headers %v, want ErrServer and nothing sent", err, base.seen)
			}
			if err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("error %q repeats the password", err)
			}
			config := loginlab.NewPlugin(t, "").Config()
			if _, err := newPool(t, transport.Options{}).Client(config, execcredential.Cluster{Server: server}); !errors.Is(err, transport.ErrServer) {
				t.Errorf("Client = %v, want ErrServer", err)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	cases := []struct {
		name, server, url string
		from              []string
		want              string
	}{
		{"to another origin", "https://h", "https://i/x", []string{"https://h/a"}, ""},
		{"to plain HTTP", "https://h", "http://h/x", []string{"https://h/a"}, ""},
		{"within the origin", "https://h", "https://h:443/x", []string{"https://h/a"}, "Bearer t"},
		{"away and back", "https://h", "https://h/x", []string{"https://i/b", "https://h/a"}, "Bearer t"},
		{"to another origin, without OnlyTo", "", "https://i/x", []string{"https://h/a"}, ""},
		{"from there to a third, without OnlyTo", "", "https://j/x", []string{"https://i/b", "https://h/a"}, ""},
		{"within the origin, without OnlyTo", "", "https://h:443/x", []string{"https://h/a"}, "Bearer t"},
	}
	for _, c := range cases {
		t.Run("ECR-28 a redirect "+c.name, func(t *testing.T) {
			base := &headerLog{}
			rt := newTokenSource(t, func(e *execcredential.ExecConfig) { e.Impersonate = execcredential.Impersonation{Name: "n"} }).Wrap(base)
			if c.server != "" {
				rt.OnlyTo(c.server)
			}
			if _, err := rt.RoundTrip(request(t, c.url, c.from...)); err != nil {
				t.Fatal(err)
			}
			if got := base.seen[0].Get("Authorization"); got != c.want || (base.seen[0].Get("Impersonate-User") != "") != (c.want != "") {
				t.Errorf("headers = %v, want Authorization %q and Impersonate-User beside it", base.seen[0], c.want)
			}
		})
	}
	t.Run("ECR-28 a source without cluster information does not send its token on to another server", func(t *testing.T) {
		authority := loginlab.NewAuthority(t)
		elsewhere, other := newGate(t, authority)
		server := authority.Server(t, http.RedirectHandler(other.URL, http.StatusFound))
		get(t, newClient(t, authority, newTokenSource(t), true), server.URL)
		if got := elsewhere.requests(); !slices.Equal(got, []string{""}) {
			t.Errorf("Authorization elsewhere = %q, want none", got)
		}
	})
}
