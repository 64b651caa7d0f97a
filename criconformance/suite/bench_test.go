package suite_test

import (
	"io"
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

func BenchmarkCases(b *testing.B) {
	for b.Loop() {
		suite.Cases()
	}
}

func BenchmarkWriteText(b *testing.B) {
	r := sample()
	for b.Loop() {
		if err := r.WriteText(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
