//go:build unix

package pluginexec_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

// BenchmarkRun compares one bounded run with os/exec's, which has no bound.
func BenchmarkRun(b *testing.B) {
	path := script(b, "echo answer")
	b.Run("answer/lanyard", func(b *testing.B) {
		for b.Loop() {
			if _, err := pluginexec.Run(b.Context(), pluginexec.Command{Path: path, Env: redact.Texts(os.Environ()...)}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("answer/floor", func(b *testing.B) {
		for b.Loop() {
			if _, err := exec.Command(path).Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
