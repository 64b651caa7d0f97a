//go:build unix

package transport_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestRequestIsNotChanged(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	g, server := newGate(t, authority)
	g.take("t")
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	client := newClient(t, authority, newSource(t, newPool(t, transport.Options{}), plugin.Config()), true)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/plain")
	before := maps.Clone(request.Header)
	t.Run("ECR-28 the token goes out and the caller's request stays as it was", func(t *testing.T) {
		response, err := client.Transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK || fmt.Sprint(request.Header) != fmt.Sprint(before) {
			t.Errorf("status %d, header %v, want 200 and %v", response.StatusCode, request.Header, before)
		}
	})
}

func TestStaticHeaderWins(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	g, server := newGate(t, authority)
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("plugin", "", "", time.Time{})
	client := newClient(t, authority, newSource(t, newPool(t, transport.Options{}), plugin.Config()), true)
	for name, set := range map[string]func(*http.Request){
		"basic": func(r *http.Request) { r.SetBasicAuth("u", "p") },
		"token": func(r *http.Request) { r.Header.Set("Authorization", "Bearer static") },
	} {
		t.Run("ECR-15 KEP-541 integration: "+name+" auth of the request wins and the plugin is not run, not even after its 401", func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			set(request)
			want := request.Header.Get("Authorization")
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			seen := g.requests()
			if got := seen[len(seen)-1]; got != want || plugin.Runs() != 0 || response.StatusCode != http.StatusUnauthorized {
				t.Errorf("Authorization = %q, runs = %d, status %d, want %q, 0, 401", got, plugin.Runs(), response.StatusCode, want)
			}
		})
	}
}

func TestUnauthorized(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	setup := func(t *testing.T, options transport.Options) (*gate, *httptest.Server, *loginlab.Plugin, *http.Client) {
		g, server := newGate(t, authority)
		g.take("one")
		plugin := loginlab.NewPlugin(t, "")
		plugin.Status("one", "", "", time.Now().Add(time.Hour))
		client := newClient(t, authority, newSource(t, newPool(t, options), plugin.Config()), true)
		if status, _ := get(t, client, server.URL); status != http.StatusOK {
			t.Fatalf("status = %d, want 200", status)
		}
		g.take("two")
		plugin.Status("two", "", "", time.Now().Add(time.Hour))
		return g, server, plugin, client
	}
	t.Run("ECR-9 a 401 runs the plugin whatever the expiry says; the caller sees it, the next request does not", func(t *testing.T) {
		_, server, plugin, client := setup(t, transport.Options{})
		first, _ := get(t, client, server.URL)
		second, _ := get(t, client, server.URL)
		if first != http.StatusUnauthorized || second != http.StatusOK || plugin.Runs() != 2 {
			t.Errorf("statuses %d, %d, runs %d, want 401, 200, 2", first, second, plugin.Runs())
		}
	})
	t.Run("ECR-9 with repeat the caller sees no 401", func(t *testing.T) {
		_, server, plugin, client := setup(t, transport.Options{Repeat: true})
		if status, _ := get(t, client, server.URL); status != http.StatusOK || plugin.Runs() != 2 {
			t.Errorf("status %d, runs %d, want 200, 2", status, plugin.Runs())
		}
	})
	t.Run("ECR-9 a body that can be had again is sent again, whole", func(t *testing.T) {
		_, server, _, client := setup(t, transport.Options{Repeat: true})
		response, err := client.Post(server.URL, "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || string(body) != "body" {
			t.Errorf("status %d, body %q, want 200, body", response.StatusCode, body)
		}
	})
	t.Run("ECR-9 a body that cannot be had again is not sent again", func(t *testing.T) {
		g, server, _, client := setup(t, transport.Options{Repeat: true})
		before := len(g.requests())
		response, err := client.Post(server.URL, "text/plain", io.MultiReader(strings.NewReader("body")))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized || len(g.requests()) != before+1 {
			t.Errorf("status %d after %d requests, want 401 after one", response.StatusCode, len(g.requests())-before)
		}
	})
	t.Run("ECR-9 a server that refuses everything gets one repetition a request, and runs are bounded", func(t *testing.T) {
		g, server, plugin, client := setup(t, transport.Options{Repeat: true})
		g.take("nothing that a plugin knows")
		failed := 0
		for range 100 {
			response, err := client.Get(server.URL)
			if err != nil {
				if !errors.Is(err, transport.ErrRefused) {
					t.Fatalf("Get = %v, want ErrRefused", err)
				}
				failed++
				continue
			}
			response.Body.Close()
			if response.StatusCode != http.StatusUnauthorized {
				t.Fatalf("status = %d, want 401", response.StatusCode)
			}
		}
		if runs := plugin.Runs(); runs > 5+4 || failed < 80 {
			t.Errorf("runs = %d, failed fast = %d, want a handful and most", runs, failed)
		}
	})
	t.Run("ECR-9 a 401 whose new run fails is the caller's answer", func(t *testing.T) {
		_, server, plugin, client := setup(t, transport.Options{Repeat: true})
		plugin.Answer("nonsense")
		if status, _ := get(t, client, server.URL); status != http.StatusUnauthorized {
			t.Errorf("status = %d, want 401", status)
		}
	})
	t.Run("ECR-9 many requests that meet a 401 with one credential run the plugin once", func(t *testing.T) {
		_, server, plugin, client := setup(t, transport.Options{Repeat: true})
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				if status, _ := get(t, client, server.URL); status != http.StatusOK {
					t.Errorf("status = %d, want 200", status)
				}
			})
		}
		group.Wait()
		if plugin.Runs() != 2 {
			t.Errorf("runs = %d, want 2", plugin.Runs())
		}
	})
	t.Run("ECR-9 with 5% of answers a 401 no caller sees one", func(t *testing.T) {
		var n atomic.Int64
		server := authority.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%20 == 0 {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}))
		plugin := loginlab.NewPlugin(t, "")
		plugin.Status("t", "", "", time.Time{})
		client := newClient(t, authority, newSource(t, newPool(t, transport.Options{Repeat: true}), plugin.Config()), true)
		for range 500 {
			if status, _ := get(t, client, server.URL); status != http.StatusOK {
				t.Fatalf("status = %d, want 200", status)
			}
		}
		if plugin.Runs() < 20 {
			t.Errorf("runs = %d, want one for each injected 401", plugin.Runs())
		}
	})
	t.Run("a 403 runs nothing", func(t *testing.T) {
		server := authority.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) }))
		plugin := loginlab.NewPlugin(t, "")
		plugin.Status("t", "", "", time.Time{})
		client := newClient(t, authority, newSource(t, newPool(t, transport.Options{Repeat: true}), plugin.Config()), true)
		if status, _ := get(t, client, server.URL); status != http.StatusForbidden || plugin.Runs() != 1 {
			t.Errorf("status %d, runs %d, want 403, 1", status, plugin.Runs())
		}
	})
}

func TestCredentialStaysWithItsServer(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	elsewhere, other := newGate(t, authority)
	elsewhere.take("t")
	server := authority.Server(t, http.RedirectHandler(other.URL, http.StatusFound))
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	config := plugin.Config()
	config.ProvideClusterInfo = true
	source, err := newPool(t, transport.Options{}).Source(config, &execcredential.Cluster{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ECR-28 a redirect does not take the token to another server", func(t *testing.T) {
		client := newClient(t, authority, source, true)
		get(t, client, server.URL)
		if got := elsewhere.requests(); !slices.Equal(got, []string{""}) {
			t.Errorf("Authorization elsewhere = %q, want none", got)
		}
	})
}

func TestBase(t *testing.T) {
	pool := newPool(t, transport.Options{})
	source := newSource(t, pool, execcredential.ExecConfig{Command: "c", APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever})
	t.Run("a base that dials TLS itself is refused, because no certificate could reach it", func(t *testing.T) {
		_, err := source.RoundTripper(&http.Transport{DialTLSContext: dialNothing})
		if !errors.Is(err, transport.ErrCustomTLS) {
			t.Errorf("RoundTripper = %v, want ErrCustomTLS", err)
		}
	})
	t.Run("a certificate authority without PEM is an error", func(t *testing.T) {
		_, err := transport.Base(execcredential.Cluster{CertificateAuthorityData: []byte("x")})
		if !errors.Is(err, transport.ErrCertificateAuthority) {
			t.Errorf("Base = %v, want ErrCertificateAuthority", err)
		}
	})
	t.Run("ECR-29 ECR-30 an authority beside insecure-skip-tls-verify is refused, as kubectl does, and not ignored", func(t *testing.T) {
		cluster := execcredential.Cluster{CertificateAuthorityData: loginlab.NewAuthority(t).PEM, InsecureSkipTLSVerify: true}
		if _, err := transport.Base(cluster); !errors.Is(err, transport.ErrInsecureAuthority) {
			t.Errorf("Base = %v, want ErrInsecureAuthority", err)
		}
	})
	t.Run("ECR-28 a proxy URL that does not parse is not repeated", func(t *testing.T) {
		_, err := transport.Base(execcredential.Cluster{ProxyURL: redact.New("http://u:open-sesame-4711@\x7f")})
		if err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("Base = %v, want an error without the URL", err)
		}
	})
	t.Run("server name, proxy and compression are the cluster's", func(t *testing.T) {
		base, err := transport.Base(execcredential.Cluster{TLSServerName: "n", InsecureSkipTLSVerify: true, ProxyURL: redact.New("http://p:1"), DisableCompression: true})
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := base.Proxy(httptest.NewRequest(http.MethodGet, "https://s", nil))
		if err != nil || proxy.Host != "p:1" || base.TLSClientConfig.ServerName != "n" || !base.TLSClientConfig.InsecureSkipVerify || !base.DisableCompression {
			t.Errorf("Base: proxy %v, %v, config %+v", proxy, err, base)
		}
	})
}
