package transport

import (
	"testing"
	"time"
)

// BenchmarkDecide is what every request asks when there is no snapshot.
func BenchmarkDecide(b *testing.B) {
	now := time.Now()
	s := state{}.succeeded(now, token(b, now.Add(time.Hour)), 0)
	b.Run("valid/lanyard", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if action, _ := s.decide(now); action != actionUse {
				b.Fatal(action)
			}
		}
	})
}
