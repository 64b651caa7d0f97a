package testrun

import (
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// commandOf returns the arguments of the command that tests the packages of a pattern.
func commandOf(t *testing.T, pattern string) []string {
	t.Helper()
	h, err := house.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := Commands(h, h.Everyday())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range commands {
		if slices.Contains(args, pattern) {
			return args
		}
	}
	t.Fatalf("no command tests %s: %q", pattern, commands)
	return nil
}

func TestCommands(t *testing.T) {
	for _, row := range []struct {
		pattern        string
		race, uncached bool
	}{
		{house.Prefix + "/redact/...", true, false},
		{house.Prefix + "/examples/gates", true, false},
		{house.Prefix + "/examples/ca", true, false}, // it has no test, and must build
		{house.Prefix + "/examples/e2e", true, true},
		{house.Prefix + "/examples/runtime/image", true, true},
	} {
		args := commandOf(t, row.pattern)
		if got := slices.Contains(args, "-race"); got != row.race {
			t.Errorf("-race for %s is %v, want %v", row.pattern, got, row.race)
		}
		if got := slices.Contains(args, uncached); got != row.uncached {
			t.Errorf("%s for %s is %v, want %v", uncached, row.pattern, got, row.uncached)
		}
	}
}

func TestEachPackageOnce(t *testing.T) {
	seen := map[string]int{}
	h, err := house.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := Commands(h, h.Select(house.Library, house.Tool, house.Examples))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range commands {
		for _, arg := range args {
			if strings.HasPrefix(arg, house.Prefix) {
				seen[arg]++
			}
		}
	}
	for pkg, n := range seen {
		if n != 1 {
			t.Errorf("%s is tested by %d commands", pkg, n)
		}
	}
}

func TestSlowest(t *testing.T) {
	got := Slowest([]Outcome{
		{"p", "TestA/quick", Passed, 0.9},
		{"p", "TestA/slow", Passed, 3},
		{"p", "TestA", Passed, 4},
		{"p", "TestB", Passed, 2},
		{"p", "TestC", Passed, 0.5},
	}, 3)
	if len(got) != 2 || got[0].Test != "TestA/slow" || got[1].Test != "TestB" {
		t.Errorf("Slowest = %v, want TestA/slow and TestB", got)
	}
}
