package ratio_test

import (
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/ratio"
)

func TestPrint(t *testing.T) {
	points, err := ratio.Parse(strings.NewReader(`goos: linux
BenchmarkMerge/10/1/floor-2    100    50 ns/op   0 B/op   0 allocs/op
BenchmarkMerge/10/1/lanyard-2  100   100 ns/op  16 B/op   1 allocs/op
BenchmarkMerge/10/1/peer-2     100   400 ns/op
BenchmarkMerge/10/1/peer-2     100   300 ns/op
BenchmarkMerge/10/1/peer-2     100   200 ns/op
BenchmarkAlone/1/peer          100   9.5 ns/op
PASS
`))
	if err != nil || len(points) != 2 {
		t.Fatalf("Parse = %v, %v, want two points", points, err)
	}
	var said strings.Builder
	ratio.Print(&said, points)
	for _, part := range []string{"lanyard 100 ns 1 allocs", "floor 50 ns 0 allocs (ours 2.00x)", "peer 300 ns (3.00x ours)", "BenchmarkAlone/1: lanyard did not run"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("Print lacks %q:\n%s", part, said.String())
		}
	}
}
