package credproviderkubelet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	upstream "k8s.io/kubernetes/pkg/credentialprovider"
	kubelet "k8s.io/kubernetes/pkg/credentialprovider/plugin"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
)

var sink int

// BenchmarkMatching asks whether an image matches a list of patterns, of which the last one does.
func BenchmarkMatching(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		var patterns []string
		for i := n - 1; i >= 0; i-- {
			patterns = append(patterns, fmt.Sprintf("*.dkr.zone%d.*.example.io", i))
		}
		b.Run(fmt.Sprintf("patterns-%d/lanyard", n), func(b *testing.B) {
			m, err := credprovider.NewMatcher([][]string{patterns})
			if err != nil {
				b.Fatal(err)
			}
			var dst [1]int
			b.ReportAllocs()
			for b.Loop() {
				sink = len(m.AppendMatches(dst[:0], image))
			}
		})
		b.Run(fmt.Sprintf("patterns-%d/kubelet", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, pattern := range patterns {
					if ok, err := upstream.URLsMatchStr(pattern, image); ok && err == nil {
						sink++
						break
					}
				}
			}
		})
	}
}

// registered counts the providers that the kubelet's code holds. It has no way to take one back, so a grid point that
// asks for fewer cannot be measured in the same process any more.
var registered int

func register(b *testing.B, n int, duration time.Duration) {
	b.Helper()
	if registered > n {
		b.Skipf("a kubelet's %d providers cannot be unregistered; run with -count=1", registered)
	}
	file, dir := write(b, providers(registered, n, duration))
	if registered < n {
		if err := kubelet.RegisterCredentialProviderPlugins(file, dir, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	registered = n
}

// BenchmarkCachedLookup looks up an image for a pod on a node with n providers of ten patterns each, one of which
// matches and has its answer cached.
func BenchmarkCachedLookup(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("providers-%d/lanyard", n), func(b *testing.B) {
			file, dir := write(b, providers(0, n, time.Hour))
			pool, err := provider.Open(file, dir, provider.Options{})
			if err != nil {
				b.Fatal(err)
			}
			pod := provider.Pod{Namespace: "ns", Name: "pod", UID: "uid", ServiceAccount: "sa"}
			b.ReportAllocs()
			for b.Loop() {
				found, err := pool.Lookup(context.Background(), image, pod)
				if sink = len(found); sink != 1 || err != nil {
					b.Fatal(sink, err)
				}
			}
		})
		b.Run(fmt.Sprintf("providers-%d/kubelet", n), func(b *testing.B) {
			register(b, n, time.Hour)
			b.ReportAllocs()
			for b.Loop() {
				found, _ := kubelet.NewExternalCredentialProviderDockerKeyring("ns", "pod", "uid", "sa").Lookup(image)
				if sink = len(found); sink != 1 {
					b.Fatal(sink)
				}
			}
		})
	}
}
