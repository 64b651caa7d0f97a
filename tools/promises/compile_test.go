package promises_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/cross"
	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/ratio"
)

func TestCrossCompiles(t *testing.T) {
	eachLibrary(t, "MOD-6 compiles for every target:", func(t *testing.T, h *house.House, m house.Module) {
		for _, target := range cross.Targets() {
			var said strings.Builder
			if err := cross.Compile(&said, h, m, target); err != nil {
				t.Errorf("%v\n%s", err, said.String())
			}
		}
	})
}

// hasBenchmarks reports whether a module outside the workspace measures anything.
func hasBenchmarks(t *testing.T, h *house.House, m house.Module) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(h.Root, m.Dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func Benchmark") {
			return true
		}
	}
	return false
}

// TestRatios runs each benchmark once: what counts here is that every grid point
// has a figure of ours and of at least one other, not how large they are.
func TestRatios(t *testing.T) {
	h := open(t)
	for _, m := range h.Select(house.Peers) {
		if !hasBenchmarks(t, h, m) {
			continue // it compares behaviour alone
		}
		t.Run("MOD-5 "+m.Dir+" prints a ratio for each grid point", func(t *testing.T) {
			var said strings.Builder
			points, _, err := ratio.Run(&said, h, m, 1, "1x")
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			if len(points) == 0 {
				t.Fatal("no benchmark")
			}
			for _, p := range points {
				if len(p.Nanos[ratio.Ours]) == 0 || len(p.Contenders) < 2 {
					t.Errorf("%s ran %v, want %s and another", p.Name, p.Contenders, ratio.Ours)
				}
			}
		})
	}
}
