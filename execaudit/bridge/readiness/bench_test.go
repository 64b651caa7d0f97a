package readiness_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

func BenchmarkParse(b *testing.B) {
	annotations := node().Annotations()
	b.ReportAllocs()
	for b.Loop() {
		readiness.Parse(annotations)
	}
}

func BenchmarkCovers(b *testing.B) {
	l := &readiness.Lease{Readiness: node(), Renewed: since, Duration: time.Minute}
	c := readiness.Container{PodStarted: since.Add(time.Minute), Started: since.Add(time.Minute)}
	keys, now := []string{"new", "old"}, since.Add(time.Second)
	b.ReportAllocs()
	for b.Loop() {
		l.Covers(c, keys, now)
	}
}
