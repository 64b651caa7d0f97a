package execaudit_test

import (
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

// TestAllocations holds the number of allocations constant, whatever the number of entries.
func TestAllocations(t *testing.T) {
	for _, n := range []int{1, 16, 256} {
		envs, req := numbered(n, "value"), new(runtimeapi.ExecRequest)
		cases := []struct {
			name string
			most float64
			call func()
		}{
			{"Validate", 0, func() { _ = execaudit.Validate(envs, execaudit.ReservedList) }},
			{"criwire.Write", 1, func() { _ = criwire.Write(req, envs) }},
			{"criwire.Read", 3, func() { _, _ = criwire.Read(req) }},
		}
		for _, c := range cases {
			if got := testing.AllocsPerRun(20, c.call); got > c.most {
				t.Errorf("%s of %d entries allocates %v times, want at most %v", c.name, n, got, c.most)
			}
		}
	}
}
