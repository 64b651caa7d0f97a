package promises_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/cross"
	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/ratio"
)

// TestCrossCompiles compiles all modules at once for each target, and one by one
// where that fails, to find which do not compile.
func TestCrossCompiles(t *testing.T) {
	h := open(t)
	var todo []house.Module
	for _, m := range h.Select(house.Library) {
		if proof, err := h.Proof("cross", m); err != nil {
			t.Fatal(err)
		} else if !proof.Kept() {
			todo = append(todo, m)
		}
	}
	var broken []cross.Target
	for _, target := range cross.Targets() {
		if len(todo) > 0 && cross.Compile(io.Discard, h, target, todo...) != nil {
			broken = append(broken, target)
		}
	}
	eachLibrary(t, "MOD-6 compiles for every target:", func(t *testing.T, h *house.House, m house.Module) {
		proved(t, h, "cross", m, func() {
			for _, target := range broken {
				var said strings.Builder
				if err := cross.Compile(&said, h, target, m); err != nil {
					t.Errorf("%v\n%s", err, said.String())
				}
			}
		})
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
			proved(t, h, "ratios", m, func() { ratios(t, h, m) })
		})
	}
}

func ratios(t *testing.T, h *house.House, m house.Module) {
	t.Helper()
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
}
