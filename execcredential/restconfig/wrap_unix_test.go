//go:build unix

package restconfig_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// toExec converts a configuration that impersonates nobody.
func toExec(config execcredential.ExecConfig) *clientcmdapi.ExecConfig {
	converted, _ := restconfig.ToExecConfig(config)
	return converted
}

func TestWrap(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	server := authority.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		fmt.Fprintf(w, "%s|%s|%s", name, r.Header.Get("Authorization"), r.URL.Path)
	}))
	plugin := loginlab.NewPlugin(t, "")
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	config := &rest.Config{
		Host: server.URL + "/prefix", TLSClientConfig: rest.TLSClientConfig{CAData: authority.PEM},
		ExecProvider: toExec(plugin.Config()),
	}
	answer := func(name string) {
		certificate, key := authority.Client(t, name, time.Now().Add(-time.Hour), 2*time.Hour)
		plugin.Status("token of "+name, certificate, key, time.Time{})
	}
	get := func(config *rest.Config) string {
		t.Helper()
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Get(config.Host + "/x")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	t.Run("ECR-18 clients of client-go log in with token and certificate, and use the next ones after a rotation", func(t *testing.T) {
		wrapped, source, err := restconfig.Wrap(config, pool)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		for _, name := range []string{"one", "two", "three"} {
			answer(name)
			source.Reset()
			if got, want := get(wrapped), name+"|Bearer token of "+name+"|/prefix/x"; got != want {
				t.Errorf("server saw %q, want %q", got, want)
			}
		}
		if config.ExecProvider == nil || config.Transport != nil {
			t.Error("Wrap changed its argument")
		}
	})
	runs := plugin.Runs()
	for name, static := range map[string]func(*rest.Config){
		"token": func(c *rest.Config) { c.BearerToken = "static" },
		"basic": func(c *rest.Config) { c.Username, c.Password = "u", "p" },
		"certificate": func(c *rest.Config) {
			certificate, key := authority.Client(t, "static", time.Now().Add(-time.Hour), 2*time.Hour)
			c.CertData, c.KeyData = []byte(certificate), []byte(key)
		},
	} {
		t.Run("ECR-15 a static "+name+" wins, and the plugin is not run", func(t *testing.T) {
			other := rest.CopyConfig(config)
			static(other)
			wrapped, source, err := restconfig.Wrap(other, pool)
			if err != nil || source != nil {
				t.Fatalf("Wrap = %v, %v, want no source", source, err)
			}
			get(wrapped)
			if plugin.Runs() != runs {
				t.Errorf("runs = %d, want %d", plugin.Runs(), runs)
			}
		})
	}
	t.Run("a configuration without a plugin is copied", func(t *testing.T) {
		wrapped, source, err := restconfig.Wrap(&rest.Config{Host: "h"}, pool)
		if err != nil || source != nil || wrapped.Host != "h" {
			t.Errorf("Wrap = %v, %v, %v", wrapped, source, err)
		}
	})
	t.Run("ECR-2 a faulty plugin configuration is an error", func(t *testing.T) {
		other := rest.CopyConfig(config)
		other.ExecProvider = toExec(execcredential.ExecConfig{Command: "c"})
		if _, _, err := restconfig.Wrap(other, pool); err == nil {
			t.Error("Wrap = nil error, want one")
		}
	})
	t.Run("ECR-29 a host without scheme, and a proxy, need no cluster information", func(t *testing.T) {
		other := rest.CopyConfig(config)
		other.Host, other.Proxy = strings.TrimPrefix(server.URL, "https://"), http.ProxyFromEnvironment
		wrapped, source, err := restconfig.Wrap(other, pool)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		if got, want := get(&rest.Config{
			Host: server.URL, TLSClientConfig: wrapped.TLSClientConfig, WrapTransport: wrapped.WrapTransport,
		}), "three|Bearer token of three|/x"; got != want {
			t.Errorf("server saw %q, want %q", got, want)
		}
	})
}

func TestPreparedBase(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	server := authority.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.TLS.PeerCertificates[0].Subject.CommonName, r.Proto)
		if r.URL.Path == "/watch" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	plugin := loginlab.NewPlugin(t, "")
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	source, err := pool.Source(plugin.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM)
	rt, err := source.RoundTripper(utilnet.SetTransportDefaults(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: rt}
	t.Run("ECR-18 ECR-29 over a base that client-go has prepared for HTTP/2 a new certificate uses no connection of an old one", func(t *testing.T) {
		for _, name := range []string{"one", "two", "three"} {
			certificate, key := authority.Client(t, name, time.Now().Add(-time.Hour), 2*time.Hour)
			plugin.Status("", certificate, key, time.Time{})
			source.Reset()
			response, err := client.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if want := name + " HTTP/2.0"; err != nil || string(body) != want {
				t.Errorf("server saw %q, %v, want %q", body, err, want)
			}
			watch, err := client.Get(server.URL + "/watch") // keeps this certificate's connection open
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Body.Close()
		}
	})
}
