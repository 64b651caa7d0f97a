//go:build unix

package transport_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

type noop struct{ response *http.Response }

func (n noop) RoundTrip(*http.Request) (*http.Response, error) { return n.response, nil }

// BenchmarkRequest is the cost of a credential for a request, through a transport that does nothing.
func BenchmarkRequest(b *testing.B) {
	plugin := loginlab.NewPlugin(b, "")
	plugin.Status(strings.Repeat("t", 1200), "", "", time.Now().Add(time.Hour))
	rt := newSource(b, newPool(b, transport.Options{}), plugin.Config()).Wrap(noop{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}})
	request, err := http.NewRequest(http.MethodGet, "https://127.0.0.1/api", nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "bench")
	b.Run("goroutines=1/lanyard", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = rt.RoundTrip(request)
		}
	})
	b.Run("goroutines=64/lanyard", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = rt.RoundTrip(request)
			}
		})
	})
}
