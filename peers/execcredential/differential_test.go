package execcredential_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"pgregory.net/rapid"
)

// newServer tells what a request brought: the token, and the name in the client certificate. A token "bad" is a 401.
func newServer(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := ""
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		if r.Header.Get("Authorization") == "Bearer bad" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, "authorization=%q certificate=%q", r.Header.Get("Authorization"), name)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// outcome is what a user sees of one request: an error, or the status and what the server saw; and what the plugin was
// told.
func outcome(client *http.Client, url string, p *plugin) string {
	response, err := client.Get(url)
	if err != nil {
		return "error, plugin told " + p.take("info")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return fmt.Sprintf("%d %s %v, plugin told %s", response.StatusCode, body, err, p.take("info"))
}

func clientGo(config execcredential.ExecConfig, server string) (*http.Client, error) {
	converted := &clientcmdapi.ExecConfig{
		Command: config.Command, Args: redact.Reveal(config.Args), APIVersion: config.APIVersion, InstallHint: config.InstallHint,
		ProvideClusterInfo: config.ProvideClusterInfo, InteractiveMode: clientcmdapi.ExecInteractiveMode(config.Defaulted().InteractiveMode),
		StdinUnavailable: true,
	}
	for _, entry := range config.Env {
		converted.Env = append(converted.Env, clientcmdapi.ExecEnvVar{Name: entry.Name, Value: entry.Value.Reveal()})
	}
	return rest.HTTPClientFor(&rest.Config{Host: server, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, ExecProvider: converted})
}

func lanyard(t testing.TB, config execcredential.ExecConfig, server string, options transport.Options) (*http.Client, error) {
	pool, err := transport.NewPool(options)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { pool.Close() })
	return pool.Client(config, execcredential.Cluster{Server: server, InsecureSkipTLSVerify: true})
}

func TestSameOutcome(t *testing.T) {
	server := newServer(t)
	certificate, key := pair(t, "user")
	_, otherKey := pair(t, "other")
	versions := []string{execcredential.V1, execcredential.V1Beta1, "client.authentication.k8s.io/v9", "v1", ""}
	statuses := func(rt *rapid.T) map[string]any {
		if rapid.IntRange(0, 9).Draw(rt, "no status") == 0 {
			return nil
		}
		status := map[string]any{}
		set := func(name string, values ...any) {
			if value := rapid.SampledFrom(values).Draw(rt, name); value != nil {
				status[name] = value
			}
		}
		set("token", nil, "good", "bad", "line\n", "", 1, []string{"x"}, "ünïcode")
		if rapid.Bool().Draw(rt, "with certificate") {
			set("clientCertificateData", nil, certificate, certificate, "no PEM")
			set("clientKeyData", nil, key, key, otherKey, 7)
		}
		set("expirationTimestamp", nil, nil, time.Now().Add(time.Hour).Format(time.RFC3339), time.Now().Add(time.Hour).Format(time.RFC3339Nano),
			"2030-01-01", "", "2030-01-01T00:00:00+02:00", 5)
		set("unknown", nil, "x")
		set("Token", nil, "other case")
		return status
	}
	t.Run("ECR-1 ECR-3 ECR-4 ECR-6 for generated configurations and answers the outcome is client-go's", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			kind := rapid.SampledFrom([]string{"ExecCredential", "ExecCredential", "ExecCredential", "", "Foo"}).Draw(rt, "kind")
			wanted := rapid.SampledFrom(versions[:2]).Draw(rt, "configured version")
			given := wanted
			if rapid.IntRange(0, 3).Draw(rt, "lies") == 0 {
				given = rapid.SampledFrom(versions).Draw(rt, "answered version")
			}
			text := answer(given, kind, statuses(rt))
			text = rapid.SampledFrom([]string{"", "", "", "noise ", "\n", "---\n"}).Draw(rt, "before") + text
			text += rapid.SampledFrom([]string{"", "", "", " noise", "\n", "{}"}).Draw(rt, "after")
			body := rapid.SampledFrom([]string{"", "", "", "exit 3"}).Draw(rt, "body")
			p := newPlugin(t, body, text)
			config := execcredential.ExecConfig{
				Command: p.path, APIVersion: wanted, ProvideClusterInfo: rapid.Bool().Draw(rt, "cluster"),
				InteractiveMode: rapid.SampledFrom([]execcredential.InteractiveMode{execcredential.InteractiveNever, execcredential.InteractiveIfAvailable, execcredential.InteractiveAlways}).Draw(rt, "mode"),
				Env:             []execcredential.EnvVar{{Name: execcredential.InfoEnv, Value: redact.New("overridden")}},
			}
			ours, ourErr := lanyard(t, config, server.URL, transport.Options{})
			theirs, theirErr := clientGo(config, server.URL)
			if ourErr != nil || theirErr != nil {
				rt.Fatalf("clients: %v, %v", ourErr, theirErr)
			}
			got := outcome(ours, server.URL, p)
			p.take("runs")
			if want := outcome(theirs, server.URL, p); got != want {
				rt.Fatalf("outcome = %s\nclient-go's %s\nanswer %q", got, want, text)
			}
		})
	})
	t.Run("ECR-2 for generated configurations client-go and we refuse the same", func(t *testing.T) {
		for _, version := range []string{"", "v1", "client.authentication.k8s.io/v2", execcredential.V1, execcredential.V1Beta1} {
			config := execcredential.ExecConfig{Command: "c", APIVersion: version, InteractiveMode: execcredential.InteractiveNever}
			_, ours := lanyard(t, config, server.URL, transport.Options{})
			_, theirs := clientGo(config, server.URL)
			if (ours == nil) != (theirs == nil) {
				t.Errorf("version %q: %v, client-go's %v", version, ours, theirs)
			}
		}
	})
}

func TestEachOthersPlugins(t *testing.T) {
	server := newServer(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{execcredential.V1, execcredential.V1Beta1} {
		config := func(kind string) execcredential.ExecConfig {
			return execcredential.ExecConfig{
				Command: self, APIVersion: version, InteractiveMode: execcredential.InteractiveNever, ProvideClusterInfo: true,
				Env: []execcredential.EnvVar{{Name: "PEER_PLUGIN", Value: redact.New(kind)}},
			}
		}
		check := func(t *testing.T, client *http.Client, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, _ := io.ReadAll(response.Body); string(body) != `authorization="Bearer good" certificate=""` {
				t.Errorf("server saw %s", body)
			}
		}
		t.Run("ECR-22 client-go runs a plugin made with pluginsdk, "+version, func(t *testing.T) {
			client, err := clientGo(config("pluginsdk"), server.URL)
			check(t, client, err)
		})
		t.Run("ECR-4 our transport runs a plugin made with client-go's helper, "+version, func(t *testing.T) {
			client, err := lanyard(t, config("client-go"), server.URL, transport.Options{})
			check(t, client, err)
		})
	}
}
