package join_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestLiveLaw(t *testing.T) {
	t.Run("ATT-6 ATT-16 whatever comes first within the window, each event's last answer is that of whole logs", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(2, 150).Draw(t, "sessions")
			audit, journal, events := logs(n)
			last := map[attribution.Key]string{}
			l := start(context.Background(), 3, attribution.Options{}, func(a *attribution.Answer) {
				var one named
				one.add(a)
				last[a.Key] = one.list[0]
			})
			rest, each := [3][]string{audit, journal, events}, [3]int{2, 1, 2}
			for done := 0; done < n; {
				step := min(rapid.IntRange(1, 6).Draw(t, "step"), n-done) // up to 4 s
				done += step
				for _, i := range rapid.Permutation([]int{0, 1, 2}).Draw(t, "order") {
					late := rapid.IntRange(0, 6).Draw(t, "late") // and then what is held back
					given := max(len(rest[i])-(n-done+late)*each[i], 0)
					l.give(i, rest[i][:given], rapid.IntRange(1, 20).Draw(t, "batch"))
					rest[i] = rest[i][given:]
				}
				l.ticks <- dawn.Add(time.Duration(done) * 700 * time.Millisecond)
			}
			for i, log := range rest {
				l.give(i, log, 5)
			}
			l.end()
			if got := strings.Join(slices.Sorted(maps.Values(last)), "\n"); got != right(n) {
				t.Fatalf("answers\n%s\nwant\n%s", got, right(n))
			}
		})
	})
}

func TestRevised(t *testing.T) {
	t.Run("ATT-16 what comes after an answer revises it at the next tick, when nothing else comes", func(t *testing.T) {
		audit, journal, events := logs(2)
		l := start(t.Context(), 3, attribution.Options{}, nil)
		l.give(1, journal, 2)
		l.give(2, events, 4)
		for s := range 4 {
			l.ticks <- at(60 + s)
		}
		for range 4 {
			if a := <-l.answers; !strings.Contains(a, attribution.VerdictUnknown.String()) {
				t.Errorf("answer %s", a)
			}
		}
		l.give(0, audit, 4)
		for s := range 3 {
			l.ticks <- at(70 + s)
		}
		for range 4 {
			if a := <-l.answers; !strings.Contains(a, attribution.VerdictCorroborated.String()) {
				t.Errorf("answer %s", a)
			}
		}
		l.end()
	})
}
