package journal_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/journal"
)

func TestDecode(t *testing.T) {
	t.Run("ATT-14 an end with a reason has not the time of the exit", func(t *testing.T) {
		const line = `{"version":1,"kind":"end","time":"2026-11-21T04:10:00Z","node":"n","containerID":"c","execID":"e","pid":7,"startTicks":8,`
		for _, c := range []struct {
			rest string
			lost bool
		}{
			{`"exitCode":0}`, false},
			{`"reason":"runtime restarted"}`, true},
			{`"exitCode":0,"reason":"its PID was free before that"}`, true},
		} {
			var b attribution.Batch
			if err := journal.Decode([]byte(line+c.rest), &b); err != nil {
				t.Fatal(err)
			}
			if got := b.Records[0]; got.Phase != attribution.PhaseEnd || got.Lost != c.lost {
				t.Errorf("%s: Lost = %v, want %v", c.rest, got.Lost, c.lost)
			}
		}
	})
}
