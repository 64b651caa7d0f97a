package environ_test

import (
	"fmt"
	"slices"
	"testing"
)

// grid holds the numbers of entries of the baseline and of the overrides.
var grid = [][2]int{{10, 1}, {10, 256}, {50, 1}, {50, 10}, {256, 1}, {256, 256}, {2000, 1}, {2000, 256}}

// sink keeps the compiler from leaving out the copy of the floor.
var sink []string

// BenchmarkMerge compares a merge from scratch with the peers, and with the floor: a copy of the finished environment.
func BenchmarkMerge(b *testing.B) {
	compare(b, contender{"lanyard", unprepared}, []contender{{"containerd", containerd}, {"moby", moby}, {"map", naive}})
}

// BenchmarkPrepared compares a merge with a baseline that was prepared once per container.
func BenchmarkPrepared(b *testing.B) {
	compare(b, contender{"lanyard", prepared}, []contender{{"containerd", containerd}})
}

func compare(b *testing.B, ours contender, peers []contender) {
	for _, size := range grid {
		base, overrides := entries(size[0], size[1])
		b.Run(fmt.Sprintf("%dbase_%doverrides", size[0], size[1]), func(b *testing.B) {
			finished := prepared(b, base)(overrides)
			measure(b, "floor", func() { sink = slices.Clone(finished) })
			for _, c := range append([]contender{ours}, peers...) {
				merge := c.prepare(b, base)
				measure(b, c.name, func() { merge(overrides) })
			}
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
