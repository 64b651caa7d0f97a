package kubeletauthz_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// BenchmarkMap is the cost of mapping one request; it does not allocate.
func BenchmarkMap(b *testing.B) {
	for name, o := range map[string]kubeletauthz.Options{"upstream": {Node: "n"}, "hardened": {Node: "n", HardenedVerbs: true}} {
		m := mapper(b, o)
		for _, path := range []string{"/pods", "/metrics/cadvisor", "/exec/namespace/pod/container"} {
			b.Run(name+path, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if a := m.Map("GET", path, ""); a.Len() == 0 {
						b.Fatal("no attributes")
					}
				}
			})
		}
	}
}
