package restconfig_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	upstream "k8s.io/client-go/tools/auth/exec"
)

// BenchmarkLoadExecCredential is what a plugin pays to read its input.
func BenchmarkLoadExecCredential(b *testing.B) {
	b.Run("cluster/lanyard", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := restconfig.LoadExecCredential([]byte(withCluster)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cluster/client-go", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := upstream.LoadExecCredential([]byte(withCluster)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
