package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// draw returns answers about so many events as a machine gives them: each once its window has passed, some of them late,
// and most of them again while the event is not older than window and linger.
func draw(random *rand.Rand, events int, o attribution.Options) (answers []attribution.Answer) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	var last []attribution.Answer
	for len(last) < events {
		now = now.Add(time.Duration(random.IntN(int(o.Linger / 4))))
		oldest := now.Add(-o.Window - o.Linger)
		i := random.IntN(len(last) + 1)
		if i == len(last) {
			var a attribution.Answer
			a.Key, a.Event.Time = attribution.Key{byte(i), byte(i >> 8)}, now.Add(-o.Window)
			if random.IntN(4) == 0 {
				a.Event.Time = a.Event.Time.Add(-time.Duration(random.IntN(int(o.Linger))))
			}
			last = append(last, a)
		} else if last[i].Event.Time.Before(oldest) {
			continue
		}
		a := &last[i]
		a.Revision++
		a.Event.Pod = []string{"web-0", "web-1", "web-2"}[random.IntN(3)]
		answers = append(answers, *a)
	}
	return answers
}

// follower keeps what a program should that reads the lines: of each event the answer of the highest revision.
type follower map[attribution.Key]attribution.Answer

func (f follower) read(a *attribution.Answer) {
	if a.Revision > f[a.Key].Revision {
		f[a.Key] = *a
	}
}

func TestMatches(t *testing.T) {
	options := attribution.Options{Window: attribution.DefaultWindow, Linger: attribution.DefaultLinger}
	filter := attribution.Filter{Pod: "web-0"}
	for name, most := range map[string]int{
		"ATT-10 ATT-16 a filtered stream corrects everything that it said":                         maxPrinted,
		"ATT-10 ATT-16 a filtered stream corrects everything that it said, also beyond its memory": 8,
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(300) {
				m, all, seen := newMatches(filter, options), follower{}, follower{}
				m.most = most
				for _, a := range draw(rand.New(rand.NewPCG(seed, 1)), 100, options) {
					all.read(&a)
					if m.take(&a) {
						seen.read(&a)
					}
					if len(m.order) > most || len(m.printed) > most {
						t.Fatalf("seed %d: %d and %d remembered, bound %d", seed, len(m.order), len(m.printed), most)
					}
				}
				matching := 0
				for key, last := range all {
					got, printed := seen[key]
					if printed && got.Revision != last.Revision || !printed && filter.Match(&last) {
						t.Errorf("seed %d: %s: printed %d, last %d", seed, key, got.Revision, last.Revision)
					}
					matching += number(filter.Match(&last))
				}
				if most == maxPrinted && m.count != matching {
					t.Errorf("seed %d: count %d, want %d", seed, m.count, matching)
				}
			}
		})
	}
	t.Run("ATT-10 what neither matches nor corrects is not printed, and what nothing corrects any more is forgotten", func(t *testing.T) {
		m, most := newMatches(filter, options), 0
		for i, a := range draw(rand.New(rand.NewPCG(1, 1)), 5000, options) {
			if m.take(&a) && a.Revision == 1 && !filter.Match(&a) {
				t.Errorf("answer %d is printed", i)
			}
			most = max(most, len(m.order))
		}
		if most > 100 {
			t.Errorf("%d answers remembered", most)
		}
	})
	t.Run("ATT-10 ATT-16 a correction that comes when its answer is forgotten is printed", func(t *testing.T) {
		m := newMatches(filter, options)
		first := attribution.Answer{Revision: 1, Event: attribution.Event{Time: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC), Pod: "web-0"}}
		later, last := first, first
		later.Key, later.Event.Time = attribution.Key{1}, first.Event.Time.Add(time.Hour)
		last.Revision, last.Event.Pod = 2, "web-1"
		if !m.take(&first) || !m.take(&later) || len(m.printed) != 1 || !m.take(&last) {
			t.Errorf("%+v", m)
		}
	})
	t.Run("ATT-10 final answers are printed where they match, and not remembered", func(t *testing.T) {
		final := options
		final.Last = true
		m := newMatches(filter, final)
		for _, a := range draw(rand.New(rand.NewPCG(1, 1)), 100, options) {
			if m.take(&a) != filter.Match(&a) || len(m.printed) > 0 {
				t.Errorf("%+v", a)
			}
		}
	})
	t.Run("ATT-10 without a filter everything is printed and nothing remembered", func(t *testing.T) {
		m := newMatches(attribution.Filter{}, options)
		for _, a := range draw(rand.New(rand.NewPCG(1, 1)), 100, options) {
			if !m.take(&a) || len(m.printed) > 0 {
				t.Errorf("%+v", a)
			}
		}
	})
}
