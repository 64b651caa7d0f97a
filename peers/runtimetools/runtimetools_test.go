package runtimetools_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/opencontainers/runtime-tools/generate"
)

// runtimeTools adds the overrides to a baseline one by one. It edits the baseline in place, so it should be given a
// copy; being clipped, that does not grow from one exec to the next.
func runtimeTools(base, overrides []string) []string {
	//lint:ignore SA1019 measured as that release was used
	generator := generate.NewFromSpec(&specs.Spec{Process: &specs.Process{Env: base}})
	for _, s := range overrides {
		name, value, _ := strings.Cut(s, "=")
		generator.AddProcessEnv(name, value)
	}
	return generator.Config.Process.Env
}

func prepared(tb testing.TB, base []string) func(overrides []string) []string {
	baseline, _ := envprecedence.Prepare(base, envprecedence.PlatformLinux)
	return func(overrides []string) []string {
		environ, err := baseline.Merge(nil, overrides)
		if err != nil {
			tb.Fatal(err)
		}
		return environ
	}
}

func TestSameEnvironment(t *testing.T) {
	for _, size := range [][2]int{{0, 3}, {3, 0}, {10, 1}, {50, 10}, {256, 256}} {
		base, overrides := entries(size[0], size[1])
		t.Run(fmt.Sprintf("ENV-2 ENV-4 the environment of runtime-tools for %d over %d", size[1], size[0]), func(t *testing.T) {
			want := slices.Sorted(slices.Values(runtimeTools(slices.Clone(base), overrides)))
			got := slices.Sorted(slices.Values(prepared(t, base)(overrides)))
			if !slices.Equal(got, want) {
				t.Errorf("Merge(…) has %d entries, want the %d of runtime-tools", len(got), len(want))
			}
		})
	}
	t.Run("ENV-4 runtime-tools replaces only the first of two baseline entries", func(t *testing.T) {
		base := []string{"A=1", "A=2"}
		if got, want := runtimeTools(slices.Clone(base), []string{"A=3"}), []string{"A=3", "A=2"}; !slices.Equal(got, want) {
			t.Errorf("runtime-tools gives %q, want its known %q", got, want)
		}
		if got, want := prepared(t, base)([]string{"A=3"}), []string{"A=3"}; !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %q, want %q", got, want)
		}
	})
}

// sink keeps the compiler from leaving out the copy of the floor.
var sink []string

// BenchmarkRuntimeTools compares a merge from scratch with runtime-tools, and with a copy of the finished environment.
func BenchmarkRuntimeTools(b *testing.B) {
	for _, size := range [][2]int{{10, 1}, {10, 256}, {50, 1}, {50, 10}, {256, 1}, {256, 256}, {2000, 1}, {2000, 256}} {
		base, overrides := entries(size[0], size[1])
		b.Run(fmt.Sprintf("%dbase_%doverrides", size[0], size[1]), func(b *testing.B) {
			finished := prepared(b, base)(overrides)
			measure(b, "floor", func() { sink = slices.Clone(finished) })
			measure(b, "lanyard", func() {
				tiers := envprecedence.Tiers{Caller: overrides, Container: base}
				if _, _, err := envprecedence.Merge(tiers, envprecedence.PlatformLinux); err != nil {
					b.Fatal(err)
				}
			})
			own := slices.Clip(slices.Clone(base))
			measure(b, "runtime-tools", func() { runtimeTools(own, overrides) })
		})
	}
}

func measure(b *testing.B, name string, once func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			once()
		}
	})
}

// entries returns a baseline and overrides of about 45 bytes each. Every other override, as long as there are enough,
// replaces an entry of the baseline; the rest are new.
func entries(base, overrides int) (baseline, request []string) {
	for i := range base {
		baseline = append(baseline, fmt.Sprintf("CONTAINER_VARIABLE_%05d=a-value-of-some-length", i))
	}
	replacing := min(base, (overrides+1)/2)
	for i := range overrides {
		if i%2 == 0 && i/2 < replacing {
			request = append(request, fmt.Sprintf("CONTAINER_VARIABLE_%05d=the-value-of-a-request", i/2*base/replacing))
		} else {
			request = append(request, fmt.Sprintf("REQUESTED_VARIABLE_%05d=the-value-of-a-request", i))
		}
	}
	return baseline, request
}
