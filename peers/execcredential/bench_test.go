package execcredential_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
	clientgoexec "k8s.io/client-go/plugin/pkg/client/auth/exec"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientgotransport "k8s.io/client-go/transport"
)

// noop is a transport that answers without doing anything.
type noop struct{ response *http.Response }

func (n noop) RoundTrip(*http.Request) (*http.Response, error) { return n.response, nil }

var nothing = noop{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}}

// floor sets a header that is ready on the caller's own request, which a RoundTripper must not.
type floor struct{ value []string }

func (f floor) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header["Authorization"] = f.value
	return nothing.response, nil
}

// token is as long as a service account's or an OIDC provider's.
var token = strings.Repeat("t", 1200)

// BenchmarkRequest is what a valid credential costs a request.
func BenchmarkRequest(b *testing.B) {
	contenders := []struct {
		name string
		rt   http.RoundTripper
	}{
		{"lanyard", lanyardRoundTripper(b)},
		{"floor", floor{[]string{"Bearer " + token}}},
		{"client-go", clientGoRoundTripper(b)},
		{"client-go-static", clientGoStatic(b)},
	}
	for _, goroutines := range []int{1, 64} {
		for _, contender := range contenders {
			b.Run(fmt.Sprintf("goroutines=%d/%s", goroutines, contender.name), func(b *testing.B) {
				b.ReportAllocs()
				request(b, contender.rt, newRequest(b)) // the plugin has run before the clock does
				b.ResetTimer()
				if goroutines == 1 {
					for r := newRequest(b); b.Loop(); {
						request(b, contender.rt, r)
					}
					return
				}
				b.SetParallelism(max(1, goroutines/procs()))
				b.RunParallel(func(pb *testing.PB) {
					for r := newRequest(b); pb.Next(); {
						request(b, contender.rt, r)
					}
				})
			})
		}
	}
}

// request makes the request fresh again, for the contenders that leave their header on it; all pay for that alike.
func request(b *testing.B, rt http.RoundTripper, r *http.Request) {
	delete(r.Header, "Authorization")
	if _, err := rt.RoundTrip(r); err != nil {
		b.Error(err)
	}
}

func procs() int {
	n, err := strconv.Atoi(os.Getenv("GOMAXPROCS"))
	if err != nil || n < 1 {
		return 2
	}
	return n
}

func newRequest(b *testing.B) *http.Request {
	r, err := http.NewRequest(http.MethodGet, "https://127.0.0.1/api", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "bench")
	return r
}

// catConfig is a plugin of the least cost: cat of a file.
func catConfig(b *testing.B, unique string) execcredential.ExecConfig {
	cat, err := exec.LookPath("cat")
	if err != nil {
		b.Skip(err)
	}
	file := filepath.Join(b.TempDir(), "answer")
	text := answer(execcredential.V1, execcredential.Kind, map[string]any{"token": token, "expirationTimestamp": time.Now().Add(time.Hour).Format(time.RFC3339)})
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return execcredential.ExecConfig{
		Command: cat, Args: redact.Texts(file), APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever,
		Env: []execcredential.EnvVar{{Name: "UNIQUE", Value: redact.New(unique)}},
	}
}

func newSource(b *testing.B) *transport.Source {
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { pool.Close() })
	source, err := pool.Source(catConfig(b, ""), nil)
	if err != nil {
		b.Fatal(err)
	}
	return source
}

func lanyardRoundTripper(b *testing.B) http.RoundTripper { return newSource(b).Wrap(nothing) }

func clientGoWrapped(b *testing.B, config execcredential.ExecConfig) http.RoundTripper {
	authenticator, err := clientgoexec.GetAuthenticator(&clientcmdapi.ExecConfig{
		Command: config.Command, Args: redact.Reveal(config.Args), APIVersion: config.APIVersion, InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		Env: []clientcmdapi.ExecEnvVar{{Name: config.Env[0].Name, Value: config.Env[0].Value.Reveal()}},
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	settings := &clientgotransport.Config{}
	if err := authenticator.UpdateTransportConfig(settings); err != nil {
		b.Fatal(err)
	}
	rt, err := clientgotransport.HTTPWrappersForConfig(settings, nothing)
	if err != nil {
		b.Fatal(err)
	}
	return rt
}

func clientGoRoundTripper(b *testing.B) http.RoundTripper {
	return clientGoWrapped(b, catConfig(b, "request"))
}

func clientGoStatic(b *testing.B) http.RoundTripper {
	rt, err := clientgotransport.HTTPWrappersForConfig(&clientgotransport.Config{BearerToken: token}, nothing)
	if err != nil {
		b.Fatal(err)
	}
	return rt
}
