//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
)

// maxInstructions is a hundredth of what the verifier follows before it refuses a program.
const maxInstructions = 10_000

func TestVerifier(t *testing.T) {
	options := map[string]bpf.Options{
		"":                {},
		", without texts": {ArgBytes: -1, EnvBytes: -1},
		", largest texts": {ArgBytes: bpf.MaxStringBytes, EnvBytes: bpf.MaxStringBytes},
	}
	for _, kind := range kinds {
		for name, o := range options {
			t.Run("AGT-1 the verifier accepts the programs"+kind.name+name, func(t *testing.T) {
				o.Raw = kind.raw
				w := loadBy(t, kind.load, o)
				if w.Raw() != kind.raw {
					t.Errorf("raw is %v", w.Raw())
				}
				stats, err := w.Stats()
				if err != nil || len(stats) != 3 {
					t.Fatalf("%+v, %v", stats, err)
				}
				for _, s := range stats {
					t.Logf("%s: %d instructions followed", s.Name, s.Instructions)
					if s.Instructions > maxInstructions {
						t.Errorf("%s: the verifier followed %d instructions, want at most %d", s.Name, s.Instructions, maxInstructions)
					}
				}
			})
		}
	}
}
