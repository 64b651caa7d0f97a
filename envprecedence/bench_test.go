package envprecedence_test

import (
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// grid holds the sizes of baseline and overrides that the documentation quotes.
var grid = [][2]int{{10, 1}, {10, 256}, {50, 1}, {50, 10}, {256, 1}, {256, 256}, {2000, 1}, {2000, 256}}

// sizes returns a baseline and overrides of entries of about 45 bytes; every other override replaces.
func sizes(base, overrides int) (container, request []string) {
	for i := range base {
		container = append(container, fmt.Sprintf("CONTAINER_VARIABLE_%05d=a-value-of-some-length", i))
	}
	for i := range overrides {
		if i%2 == 0 && i < base {
			request = append(request, fmt.Sprintf("CONTAINER_VARIABLE_%05d=the-value-of-a-request", i))
		} else {
			request = append(request, fmt.Sprintf("REQUESTED_VARIABLE_%05d=the-value-of-a-request", i))
		}
	}
	return container, request
}

func BenchmarkMerge(b *testing.B) {
	for _, size := range grid {
		container, request := sizes(size[0], size[1])
		b.Run(fmt.Sprintf("%d/%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := envprecedence.Merge(envprecedence.Tiers{Caller: request, Container: container}, envprecedence.PlatformLinux)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBaselineMerge(b *testing.B) {
	for _, size := range grid {
		container, request := sizes(size[0], size[1])
		base, _ := envprecedence.Prepare(container, envprecedence.PlatformLinux)
		b.Run(fmt.Sprintf("%d/%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := base.Merge(nil, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		_, request := sizes(0, n)
		entries, err := envprecedence.Parse(request)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = envprecedence.Resolve(nil, entries)
			}
		})
	}
}
