package kubeletauthz_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/server"
)

// BenchmarkAttributes maps one request with the gate on.
func BenchmarkAttributes(b *testing.B) {
	m, err := kubeletauthz.New(kubeletauthz.Options{Node: "node-1"})
	if err != nil {
		b.Fatal(err)
	}
	getter := server.NewNodeAuthorizerAttributesGetter(types.NodeName("node-1"))
	for _, path := range []string{"/pods/", "/metrics/cadvisor", "/healthz", "/runningpods/", "/exec/namespace/pod/container"} {
		name := strings.ReplaceAll(strings.Trim(path, "/"), "/", "-")
		r := &http.Request{Method: "GET", URL: &url.URL{Path: path}}
		b.Run(name+"/lanyard", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = m.Map(r.Method, r.URL.Path, r.URL.RawPath).Len()
			}
		})
		b.Run(name+"/kubelet", func(b *testing.B) {
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				sink = len(getter.GetRequestAttributes(ctx, jane, r))
			}
		})
	}
}

// sink keeps the work from being left out.
var sink int
