package attribution_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// BenchmarkOpenSessions adds and answers a child's event while many sessions are open, and states what one of them
// holds.
func BenchmarkOpenSessions(b *testing.B) {
	for _, open := range []int{1, 1000, 100_000} {
		b.Run(strconv.Itoa(open), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			m := attribution.New(attribution.Options{MaxBytes: 1 << 30}, func(*attribution.Answer) {})
			for i := range open {
				id := fmt.Sprintf("%036d", i)
				a, e := audit(id, "alice"), first(id, 10+i, 100)
				m.AddAudit(&a)
				m.AddEvent(&e)
			}
			m.Flush()
			runtime.GC()
			runtime.ReadMemStats(&after)
			estimate := m.Stats().Bytes / open
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				root := first("", 10+n%open, 100)
				e := child(root, 200_000+n, 1000+n)
				m.AddEvent(&e)
				e.Kind = attribution.KindExit
				m.AddEvent(&e)
				m.Advance(e.Time)
				n++
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(open), "heapB/session")
			b.ReportMetric(float64(estimate), "countedB/session")
		})
	}
}

// BenchmarkDecode reads one line of each format.
func BenchmarkDecode(b *testing.B) {
	for _, format := range []string{"audit", "tetragon", "falco", "tracee", "spo", "journal", "procevents"} {
		line := samples(b, format)[0]
		b.Run(format, func(b *testing.B) {
			batch := attribution.Batch{Node: "n1"}
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decoders[format](line, &batch); err != nil {
					b.Fatal(err)
				}
				batch.Reset()
			}
		})
	}
}
