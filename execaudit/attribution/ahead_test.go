package attribution_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestClockAhead(t *testing.T) {
	t.Run("ATT-6 ATT-14 events of a node whose clock is an hour ahead cost the others neither their window nor their answers", func(t *testing.T) {
		begin := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
		var now time.Time
		answered := 0
		m := attribution.New(attribution.Options{MaxBytes: 1 << 20, All: true}, func(a *attribution.Answer) {
			if a.Event.Node != "n1" {
				return
			}
			answered++
			if a.Event.Time.Add(attribution.DefaultWindow).After(now) {
				t.Errorf("the event of %v was answered at %v", a.Event.Time, now)
			}
		})
		const seconds = 600
		for s := range seconds {
			now = begin.Add(time.Duration(s) * time.Second)
			for i := range 10 {
				for node, at := range map[string]time.Time{"n1": now, "n2": now.Add(time.Hour)} {
					m.AddEvent(&attribution.Event{
						Time: at, Kind: attribution.KindExec, Node: node, Command: fmt.Sprint("sh ", s, i),
						Process: attribution.Process{PID: s*10 + i + 1, StartTicks: 5, BootID: "b"},
					})
				}
			}
			m.Advance(now)
		}
		now = begin.Add(time.Hour)
		m.Flush()
		if s := m.Stats(); answered != seconds*10 || s.Late > 0 || s.EarlyAnswers == 0 {
			t.Errorf("%d answers, %+v", answered, s)
		}
	})
}
