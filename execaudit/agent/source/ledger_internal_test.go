package source

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLedgerLaws(t *testing.T) {
	t.Run("AGT-2 told is the longest beginning of what was read of which all is told", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var l ledger
			var open []uint64
			done := map[uint64]bool{}
			read := uint64(0)
			for range rapid.IntRange(0, 200).Draw(t, "steps") {
				if len(open) == 0 || rapid.Bool().Draw(t, "read") {
					read++
					if got := l.read(); got != read {
						t.Fatalf("read() = %d, want %d", got, read)
					}
					open = append(open, read)
					continue
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "told")
				l.tell(open[i])
				done[open[i]] = true
				open = append(open[:i], open[i+1:]...)
				want := uint64(0)
				for done[want+1] {
					want++
				}
				if l.told != want {
					t.Fatalf("told = %d, want %d", l.told, want)
				}
				if len(l.done)-l.head != int(read-want) {
					t.Fatalf("%d kept of %d", len(l.done)-l.head, read-want)
				}
			}
		})
	})
}
