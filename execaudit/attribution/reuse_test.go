package attribution_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestForgottenReuse(t *testing.T) {
	t.Run("ATT-14 a second session of an ID is a reuse, though the first was forgotten", func(t *testing.T) {
		alice, shell := audit("id-a", "alice"), first("id-a", 10, 100)
		intent, start := journalOf(shell)
		end := start
		end.Phase, end.Time = attribution.PhaseEnd, shell.Time.Add(time.Second)
		second := first("id-a", 20, 20_000) // past the API server
		intent2, start2 := journalOf(second)
		l := newStream(attribution.Options{Window: time.Second, Linger: 5 * time.Second})
		gone := shell
		gone.Kind, gone.Time = attribution.KindExit, end.Time
		l.add(alice, intent, start, shell, gone, end)
		for n := range 20 {
			l.Advance(dawn.Add(time.Duration(n) * time.Second))
		}
		l.add(intent2, start2, second)
		l.Advance(dawn.Add(25 * time.Second))
		for _, a := range l.given {
			if a.Event.Process == second.Process && a.Verdict != attribution.VerdictConflicting {
				t.Errorf("%s (%s)", a.Verdict, a.Reason)
			}
		}
	})
}
