package attribution_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func drawWorld(t *rapid.T, honest bool) *world {
	return newWorld(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 30).Draw(t, "sessions"), honest)
}

func shuffled(t *rapid.T, feeds []feed) []feed {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 2))
	feeds = slices.Clone(feeds)
	random.Shuffle(len(feeds), func(i, j int) { feeds[i], feeds[j] = feeds[j], feeds[i] })
	return feeds
}

func TestLaws(t *testing.T) {
	t.Run("ATT-6 any order of the same evidence gives the same answers", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t, false)
			want, got := text(answers(held, w.feeds())), text(answers(held, shuffled(t, w.feeds())))
			if i := differs(got, want); i >= 0 {
				t.Fatalf("answer %d: %s, in order %s", i, at(got, i), at(want, i))
			}
		})
	})
	t.Run("ATT-5 ATT-12 dropped evidence never makes a wrong name", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t, false)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "drops"), 3))
			share := rapid.IntRange(0, 90).Draw(t, "share")
			kept := slices.DeleteFunc(w.feeds(), func(feed) bool { return random.IntN(100) < share })
			for _, a := range answers(held, kept) {
				w.checkName(t, &a)
			}
		})
	})
	t.Run("ATT-2 ATT-4 ATT-5 with all evidence every process has its user and every forgery its verdict", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t, false)
			for _, a := range answers(held, w.feeds()) {
				w.checkName(t, &a)
				command := a.Event.Command
				if w.plain[command] && a.Verdict != attribution.VerdictCorroborated {
					t.Fatalf("%s of %s: %s, %s", command, w.truth[command], a.Verdict, a.Reason)
				}
				if w.spoofed[command] && w.truth[command] != "" && a.Verdict != attribution.VerdictConflicting {
					t.Fatalf("%s, forged by %s: %s, %s", command, w.truth[command], a.Verdict, a.Reason)
				}
			}
		})
	})
	t.Run("ATT-6 shards answer together what one machine answers", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t, false)
			n := rapid.IntRange(1, 5).Draw(t, "shards")
			if i := differs(text(w.sharded(n)), text(answers(held, w.feeds()))); i >= 0 {
				t.Fatalf("answer %d differs", i)
			}
		})
	})
	t.Run("ATT-6 a window that evidence keeps within changes no answer", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t, true) // a reuse long after the answer cannot change it
			got, want := text(w.streamed(t)), text(answers(held, w.feeds()))
			if i := differs(got, want); i >= 0 {
				t.Fatalf("answer %d: %s, held %s", i, at(got, i), at(want, i))
			}
		})
	})
	t.Run("ATT-6 under any memory bound what is named is right", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t, false)
			o := attribution.Options{All: true, MaxBytes: rapid.IntRange(4<<10, 64<<10).Draw(t, "bytes"), Window: attribution.Forever}
			for _, a := range answers(o, shuffled(t, w.feeds())) {
				w.checkName(t, &a)
			}
		})
	})
}

// checkName holds a named user against the truth.
func (w *world) checkName(t *rapid.T, a *attribution.Answer) {
	t.Helper()
	if (a.Session != nil) != (a.Verdict == attribution.VerdictCorroborated) {
		t.Fatalf("%s with session %v", a.Verdict, a.Session)
	}
	if a.Session != nil && a.Session.User.Name != w.truth[a.Event.Command] {
		t.Fatalf("%s was %q, named %q (%s)", a.Event.Command, w.truth[a.Event.Command], a.Session.User.Name, a.Reason)
	}
}

// shardOf sends a node to one of n machines.
func shardOf(node string, n int) int {
	sum := 0
	for _, b := range []byte(node) {
		sum += int(b)
	}
	return sum % n
}

func (w *world) sharded(n int) []attribution.Answer {
	var out []attribution.Answer
	for shard := range n {
		var feeds []feed
		for i := range w.audits {
			feeds = append(feeds, func(m *attribution.Machine) { m.AddAudit(&w.audits[i]) })
		}
		for i := range w.records {
			if shardOf(w.records[i].Node, n) == shard {
				feeds = append(feeds, func(m *attribution.Machine) { m.AddRecord(&w.records[i]) })
			}
		}
		for i := range w.events {
			if shardOf(w.events[i].Node, n) == shard {
				feeds = append(feeds, func(m *attribution.Machine) { m.AddEvent(&w.events[i]) })
			}
		}
		out = append(out, answers(held, feeds)...)
	}
	return out
}

// streamed feeds in the order of time, late by up to the window, and advances as it goes.
func (w *world) streamed(t *rapid.T) []attribution.Answer {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "lateness"), 4))
	type timed struct {
		at   int64
		feed feed
	}
	var all []timed
	late := func(nano int64) int64 { return nano + random.Int64N(int64(attribution.DefaultWindow)/2) }
	for i := range w.audits {
		all = append(all, timed{late(w.audits[i].At.UnixNano()), func(m *attribution.Machine) { m.AddAudit(&w.audits[i]) }})
	}
	for i := range w.records {
		all = append(all, timed{late(w.records[i].Time.UnixNano()), func(m *attribution.Machine) { m.AddRecord(&w.records[i]) }})
	}
	for i := range w.events {
		all = append(all, timed{late(w.events[i].Time.UnixNano()), func(m *attribution.Machine) { m.AddEvent(&w.events[i]) }})
	}
	slices.SortStableFunc(all, func(a, b timed) int { return int(a.at - b.at) })
	var out []attribution.Answer
	m := attribution.New(attribution.Options{All: true, MaxBytes: 1 << 30, Linger: 1000 * 60 * 60 * 1e9}, func(a *attribution.Answer) { out = append(out, *a) })
	for _, x := range all {
		m.Advance(timeOf(x.at))
		x.feed(m)
	}
	m.Flush()
	return out
}

func differs(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return i
		}
	}
	return -1
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}
