//go:build unix

package restconfig_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"k8s.io/client-go/rest"
)

// upgrader dials for itself and keeps the connection, as client-go's round trippers for SPDY and WebSocket do. The real
// ones meet the reference API server in examples/e2e.
type upgrader struct {
	t      *testing.T
	config *tls.Config
}

func (u *upgrader) TLSClientConfig() *tls.Config { return u.config }

func (u *upgrader) RoundTrip(req *http.Request) (*http.Response, error) {
	conn, err := (&tls.Dialer{Config: u.config}).DialContext(req.Context(), "tcp", req.URL.Host)
	if err != nil {
		return nil, err
	}
	u.t.Cleanup(func() { conn.Close() })
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), req)
}

// tokensOnly is an upgrader that hides its TLS configuration.
type tokensOnly struct{ inner http.RoundTripper }

func (o tokensOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	return o.inner.RoundTrip(req)
}

func TestUpgrades(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		fmt.Fprintf(w, "%s|%s", name, r.Header.Get("Authorization"))
	})
	server, other := authority.Server(t, handler), authority.Server(t, handler)
	// newClient returns what a caller of client-go makes for one session.
	newClient := func(t *testing.T, plugin *loginlab.Plugin, shows bool) (http.RoundTripper, *transport.Source) {
		t.Helper()
		pool, err := transport.NewPool(transport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pool.Close() })
		wrapped, source, err := restconfig.Wrap(&rest.Config{
			Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority.PEM}, ExecProvider: toExec(plugin.Config()),
		}, pool)
		if err != nil {
			t.Fatal(err)
		}
		config, err := rest.TLSConfigFor(wrapped)
		if err != nil || config == nil {
			t.Fatalf("TLSConfigFor = %v, %v, want the roots", config, err)
		}
		var base http.RoundTripper = &upgrader{t, config}
		if !shows {
			base = tokensOnly{base}
		}
		rt, err := rest.HTTPWrappersForConfig(wrapped, base)
		if err != nil {
			t.Fatal(err)
		}
		return rt, source
	}
	newPlugin := func(t *testing.T, kind string) *loginlab.Plugin {
		plugin := loginlab.NewPlugin(t, "")
		certificate, key := authority.Client(t, "user", time.Now().Add(-time.Hour), 2*time.Hour)
		switch kind {
		case "token":
			plugin.Status("t", "", "", time.Time{})
		case "certificate":
			plugin.Status("", certificate, key, time.Time{})
		default:
			plugin.Status("t", certificate, key, time.Time{})
		}
		return plugin
	}
	ask := func(t *testing.T, rt http.RoundTripper, url string, change func(*http.Request)) (string, error) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(req)
		}
		response, err := rt.RoundTrip(req)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
	for kind, want := range map[string]string{"token": "nobody|Bearer t", "certificate": "user|", "both": "user|Bearer t"} {
		t.Run("ECR-29 a session that dials for itself logs in with "+kind, func(t *testing.T) {
			rt, _ := newClient(t, newPlugin(t, kind), true)
			if got, err := ask(t, rt, server.URL, nil); err != nil || got != want {
				t.Errorf("server saw %q, %v, want %q", got, err, want)
			}
		})
	}
	t.Run("ECR-15 ECR-29 a session with its own Authorization gets no certificate beside it, and runs no plugin", func(t *testing.T) {
		plugin := newPlugin(t, "both")
		rt, _ := newClient(t, plugin, true)
		got, err := ask(t, rt, server.URL, func(r *http.Request) { r.Header.Set("Authorization", "Bearer own") })
		if err != nil || got != "nobody|Bearer own" || plugin.Runs() != 0 {
			t.Errorf("server saw %q, %v, %d runs, want nobody|Bearer own, none", got, err, plugin.Runs())
		}
	})
	t.Run("ECR-28 ECR-29 a redirect takes neither token nor certificate to another server", func(t *testing.T) {
		rt, _ := newClient(t, newPlugin(t, "both"), true)
		if got, err := ask(t, rt, server.URL, nil); err != nil || got != "user|Bearer t" {
			t.Fatalf("server saw %q, %v", got, err)
		}
		got, err := ask(t, rt, other.URL, func(r *http.Request) { r.Response = &http.Response{Request: r} })
		if err != nil || got != "nobody|" {
			t.Errorf("the other server saw %q, %v, want nobody|", got, err)
		}
	})
	t.Run("ECR-28 ECR-29 a request to another server is an error", func(t *testing.T) {
		rt, _ := newClient(t, newPlugin(t, "both"), true)
		var origin *transport.OriginError
		if got, err := ask(t, rt, other.URL, nil); !errors.As(err, &origin) {
			t.Errorf("the other server saw %q, %v, want *OriginError", got, err)
		}
	})
	t.Run("ECR-29 where no certificate can be presented, a token is used and a certificate is an error", func(t *testing.T) {
		rt, _ := newClient(t, newPlugin(t, "token"), false)
		if got, err := ask(t, rt, server.URL, nil); err != nil || got != "nobody|Bearer t" {
			t.Errorf("server saw %q, %v, want nobody|Bearer t", got, err)
		}
		rt, _ = newClient(t, newPlugin(t, "both"), false)
		if got, err := ask(t, rt, server.URL, nil); !errors.Is(err, transport.ErrNoTLS) {
			t.Errorf("server saw %q, %v, want ErrNoTLS", got, err)
		}
	})
	t.Run("ECR-29 after Close there are no more sessions", func(t *testing.T) {
		rt, source := newClient(t, newPlugin(t, "token"), true)
		source.Close()
		if got, err := ask(t, rt, server.URL, nil); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("server saw %q, %v, want ErrClosed", got, err)
		}
	})
}
