package flight_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/internal/flight"
)

// BenchmarkDo is what a run costs that nobody shares, beside its goroutine.
func BenchmarkDo(b *testing.B) {
	one := func(*flight.Run) (int, error) { return 1, nil }
	for name, options := range map[string]flight.Options{"plain/lanyard": {}, "limit/lanyard": {Limit: time.Minute}} {
		b.Run(name, func(b *testing.B) {
			var g group
			b.ReportAllocs()
			for b.Loop() {
				_, _, _ = g.Do(b.Context(), "", options, one)
			}
		})
	}
	b.Run("plain/floor", func(b *testing.B) { // a goroutine and a channel
		b.ReportAllocs()
		for b.Loop() {
			done := make(chan int)
			go func() { done <- 1 }()
			<-done
		}
	})
}
