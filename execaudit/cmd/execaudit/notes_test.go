package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestNotes(t *testing.T) {
	ahead := func(d time.Duration, sessions int) []attribution.Skew {
		return []attribution.Skew{{Node: "n1", Ahead: d, Sessions: sessions}}
	}
	for _, c := range []struct {
		name  string
		stats attribution.Stats
		skews []attribution.Skew
		want  []string
	}{
		{name: "ATT-6 nothing to say", stats: attribution.Stats{Audits: 3, Events: 5, Records: 2, Unrelated: 1, Answers: 4, PeakBytes: 9}},
		{name: "ATT-5 clocks that agree as --skew allows", skews: ahead(2*time.Second, 9)},
		{
			name: "ATT-5 a clock that is ahead", skews: ahead(3240*time.Millisecond, 12),
			want: []string{"clocks: that of node n1 is about 3.24s ahead of the API servers', as 12 sessions show; times were compared by it"},
		},
		{
			name: "ATT-5 a clock that is behind", skews: ahead(-time.Hour, 1),
			want: []string{"clocks: that of node n1 is about 1h0m0s behind the API servers', as 1 session shows; times were compared by it"},
		},
		{
			name: "ATT-16 answers that were corrected, and events that came late", stats: attribution.Stats{Revised: 1, Late: 2},
			want: []string{"late: 2 events answered at once, since their time had been answered", "corrected: 1 answer, by evidence that came late"},
		},
		{
			name: "ATT-6 what the memory bound cost", stats: attribution.Stats{EvictedProcesses: 1, EvictedSessions: 2, EarlyAnswers: 3, EvictedAnswers: 4},
			want: []string{
				"memory bound: 1 processes and 2 sessions evicted, 3 events answered early; their answers are hints at best",
				"memory bound: 4 answers let go before --linger had passed; late evidence would not have corrected them",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := notes(c.stats, c.skews, attribution.Options{Skew: attribution.DefaultSkew}); !slices.Equal(got, c.want) {
				t.Errorf("notes\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func TestSkewTold(t *testing.T) {
	t.Run("ATT-5 a node's clock that is ahead by more than --skew is said, and honest users stay facts", func(t *testing.T) {
		var audit, events, journal strings.Builder
		for i := range 12 {
			own := func(line, ahead string) string {
				return strings.NewReplacer("T04:10:00.25", "T04:"+ahead, "T04:10:00.2", "T04:"+ahead, "T04:10:00", fmt.Sprintf("T04:%d:00", 10+i),
					"id-a", fmt.Sprintf("id-%d", i), "4711", fmt.Sprint(4711+i), `"execID":"e1"`, fmt.Sprintf(`"execID":"e%d"`, i)).Replace(line)
			}
			node := fmt.Sprintf("%d:06.3", 10+i)
			audit.WriteString(own(auditLine, node))
			events.WriteString(own(eventLine, node))
			journal.WriteString(own(intent, node))
		}
		args := []string{"attribute", "--audit", file(t, audit.String()), "--events", file(t, events.String()), "--journal", file(t, journal.String())}
		_, out, errOut := command(t, "", args...)
		if strings.Count(out, "corroborated  alice") != 12 || !strings.Contains(errOut, "clocks: that of node n1 is about 6.3s ahead of the API servers', as ") {
			t.Errorf("%s%s", out, errOut)
		}
		if _, _, errOut := command(t, "", append(args, "--skew", "7s")...); strings.Contains(errOut, "clocks: ") {
			t.Errorf("said: %s", errOut)
		}
	})
}
