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
BenchmarkMerge/10/1/lanyard-2  100   100 ns/op  16 B/op   1 allocs/op
BenchmarkMerge/10/1/peer-2     100   300 ns/op
BenchmarkMerge/10/1/lanyard-2  100   200 ns/op  16 B/op   1 allocs/op
BenchmarkMerge/10/1/peer-2     100   200 ns/op
BenchmarkAlone/1/peer          100   9.5 ns/op
PASS
`))
	if err != nil || len(points) != 2 {
		t.Fatalf("Parse = %v, %v, want two points", points, err)
	}
	var said strings.Builder
	ratio.Print(&said, points)
	for _, part := range []string{
		"Merge/10/1 ", "lanyard 100 ns ±∞ 1 allocs", "floor 50 ns ±∞ 0 allocs (ours 2.00x [2.00–2.00])",
		"peer 300 ns ±∞ (3.00x [1.00–4.00] ours)", "Alone/1: lanyard did not run",
	} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("Print lacks %q:\n%s", part, said.String())
		}
	}
}

func TestPrintSpread(t *testing.T) {
	rounds := strings.Repeat("BenchmarkMerge/1/lanyard-2 100 100 ns/op\n", 6) + "BenchmarkMerge/1/lanyard-2 100 110 ns/op\n"
	points, err := ratio.Parse(strings.NewReader(rounds))
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	ratio.Print(&said, points)
	if want := "lanyard 100 ns ±10%"; !strings.Contains(said.String(), want) {
		t.Errorf("Print lacks %q:\n%s", want, said.String())
	}
}

func TestParseNamesABrokenLine(t *testing.T) {
	_, err := ratio.Parse(strings.NewReader("BenchmarkMerge/1/lanyard-2 100 100 ns/op\nBenchmarkMerge/1/peer-2 many 100 ns/op\n"))
	if err == nil || !strings.Contains(err.Error(), ":2:") {
		t.Errorf("Parse = %v, want the second line named", err)
	}
}
