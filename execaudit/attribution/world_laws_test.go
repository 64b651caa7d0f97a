package attribution_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/world"
)

// drawn is a small world's evidence, in the order of its arrival.
type drawn struct {
	settings world.Settings
	pieces   []*world.Piece
}

// draw draws a world of a few nodes; within says that all of its evidence comes within the window.
func draw(t *rapid.T, within bool) drawn {
	return drawOf(t, within, world.AllNodes())
}

// forkers are the nodes whose agents tell the parent as it was, at the fork or the exec. Where the fork was missed, others
// tell who adopted an orphan, and what comes first decides how far up the way goes.
func forkers() []world.Node {
	return slices.DeleteFunc(world.AllNodes(), func(n world.Node) bool { return n.Agent == world.AgentNoBoot })
}

func drawOf(t *rapid.T, within bool, all []world.Node) drawn {
	s := world.Settings{
		Seed: rapid.Uint64().Draw(t, "seed"), Events: rapid.IntRange(50, 600).Draw(t, "events"),
		Lost: rapid.Bool().Draw(t, "lost"), Late: !within && rapid.Bool().Draw(t, "late"),
		Skewed: rapid.Bool().Draw(t, "skewed"), Reused: rapid.Bool().Draw(t, "reused"),
	}
	for range rapid.IntRange(1, 3).Draw(t, "nodes") {
		s.Nodes = append(s.Nodes, all[rapid.IntRange(0, len(all)-1).Draw(t, "kind")])
	}
	d := drawn{settings: s}
	for p := range world.New(s).Pieces() {
		d.pieces = append(d.pieces, p)
	}
	return d
}

// random returns a source of its own for what is too much to draw piece by piece.
func random(t *rapid.T, label string) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, label), 2))
}

// hold lets pieces through a machine that answers at its end.
func hold(t *rapid.T, o attribution.Options, pieces []*world.Piece) []string {
	t.Helper()
	var all []said
	m := attribution.New(o, collect(t, &all))
	for _, p := range pieces {
		give(m, p)
	}
	m.Flush()
	return final(all)
}

// said is an answer as it was when it was given.
type said struct {
	key      attribution.Key
	revision int
	text     string
}

// collect keeps answers, of which none may have a wrong name.
func collect(t *rapid.T, all *[]said) func(*attribution.Answer) {
	return func(a *attribution.Answer) {
		if fault := judge(a); fault != "" {
			t.Fatalf("%s: %s", fault, describe(a))
		}
		*all = append(*all, said{a.Key, a.Revision, text(a)})
	}
}

// final returns the last answer of each key, sorted.
func final(all []said) []string {
	last := map[attribution.Key]said{}
	for _, a := range all {
		if a.revision > last[a.key].revision {
			last[a.key] = a
		}
	}
	var out []string
	for _, a := range last {
		out = append(out, a.text)
	}
	slices.Sort(out)
	return out
}

// text tells answers apart, but for their revisions. Where nothing is known of a process, it is all one why.
func text(a *attribution.Answer) string {
	why := a.Reason
	if why == attribution.ReasonEdge && a.Verdict == attribution.VerdictUnknown {
		why = attribution.ReasonNoID
	}
	line := fmt.Sprintf("%s %s %s %s %s %s %q %q", a.Key, a.Event.Time.Format(time.StampNano), a.Event.Node, a.Event.Command, a.Verdict, why, a.AuditID, a.ExecSession)
	for _, s := range append([]*attribution.Session{a.Session}, a.Claims...) {
		if s != nil {
			line += fmt.Sprintf(" %s %s as %s %s", s.UserAgent, s.User.Name, s.Actor().Name, s.Received)
		}
	}
	return line
}

// same compares final answers.
func same(t *rapid.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if at(got, i) != at(want, i) {
			t.Fatalf("answer %d: %s\nwant      %s", i, at(got, i), at(want, i))
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

func shuffled(t *rapid.T, pieces []*world.Piece) []*world.Piece {
	r := random(t, "order")
	pieces = slices.Clone(pieces)
	r.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	return pieces
}

// shardOf sends a node to one of n machines.
func shardOf(node string, n int) int {
	sum := 0
	for _, b := range []byte(node) {
		sum += int(b)
	}
	return sum % n
}

// shard returns what one of n machines gets: its nodes' events and records, and all audit events.
func shard(pieces []*world.Piece, i, n int) []*world.Piece {
	var out []*world.Piece
	for _, p := range pieces {
		if p.Audit != nil || p.Record != nil && shardOf(p.Record.Node, n) == i || p.Event != nil && shardOf(p.Event.Node, n) == i {
			out = append(out, p)
		}
	}
	return out
}

// remembering forgets nothing that a small world has.
var remembering = attribution.Options{All: true, MaxBytes: 1 << 30, Linger: 1000 * time.Hour}

// arriving lets pieces through a machine as they arrive, saved and restored before each of cuts.
func arriving(t *rapid.T, o attribution.Options, pieces []*world.Piece, cuts ...int) []said {
	t.Helper()
	var all []said
	m := attribution.New(o, collect(t, &all))
	for i, p := range pieces {
		if slices.Contains(cuts, i) {
			var state bytes.Buffer
			if err := m.Save(&state); err != nil {
				t.Fatal(err)
			}
			var err error
			if m, err = attribution.Restore(&state, o, collect(t, &all)); err != nil {
				t.Fatal(err)
			}
		}
		m.Advance(p.Arrival)
		give(m, p)
	}
	m.Flush()
	return all
}

func TestLaws(t *testing.T) {
	t.Run("ATT-6 ATT-16 any order of the same evidence gives the same answers and keys", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			same(t, hold(t, held, shuffled(t, d.pieces)), hold(t, held, d.pieces))
		})
	})
	t.Run("ATT-16 several runs give the same answers, keys and revisions, in the same order", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			o := attribution.Options{All: true}
			same(t, revisions(arriving(t, o, d.pieces)), revisions(arriving(t, o, d.pieces)))
		})
	})
	t.Run("ATT-6 ATT-16 evidence that comes within the window ends in the answers of evidence that is complete", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := drawOf(t, true, forkers())
			r := random(t, "lateness")
			for _, p := range d.pieces {
				p.Arrival = p.Arrival.Add(time.Duration(r.Int64N(int64(5 * time.Second))))
			}
			pieces := slices.SortedStableFunc(slices.Values(d.pieces), func(a, b *world.Piece) int { return a.Arrival.Compare(b.Arrival) })
			same(t, final(arriving(t, remembering, pieces)), hold(t, held, d.pieces))
		})
	})
	t.Run("ATT-16 evidence that comes late ends in the answers of evidence that is complete", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := drawOf(t, false, forkers())
			same(t, final(arriving(t, remembering, d.pieces)), hold(t, held, d.pieces))
		})
	})
	t.Run("ATT-16 the last answers alone are the last of all answers", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			last := attribution.Options{All: true, Last: true}
			same(t, final(arriving(t, last, d.pieces)), final(arriving(t, attribution.Options{All: true}, d.pieces)))
		})
	})
	t.Run("ATT-17 a run cut anywhere, saved and restored, gives the same answers, keys and revisions", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			o := attribution.Options{All: true, Last: rapid.Bool().Draw(t, "last")}
			cuts := rapid.SliceOfN(rapid.IntRange(0, len(d.pieces)), 1, 5).Draw(t, "cuts")
			same(t, revisions(arriving(t, o, d.pieces, cuts...)), revisions(arriving(t, o, d.pieces)))
		})
	})
	t.Run("ATT-17 a machine that was restored knows for ever what it would have known", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			cut := rapid.IntRange(0, len(d.pieces)).Draw(t, "cut")
			whole := attribution.New(attribution.Options{All: true}, ignore)
			restored := whole
			for i, p := range d.pieces {
				if i == cut {
					restored = again(t, whole)
				}
				for _, m := range slices.Compact([]*attribution.Machine{whole, restored}) {
					m.Advance(p.Arrival)
					give(m, p)
				}
			}
			if !bytes.Equal(saved(t, restored), saved(t, whole)) {
				t.Fatal("another state")
			}
		})
	})
	t.Run("ATT-6 ATT-16 shards answer together what one machine answers", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			n := rapid.IntRange(1, 5).Draw(t, "shards")
			var parts, streams []string
			for i := range n {
				parts = append(parts, hold(t, held, shard(d.pieces, i, n))...)
				streams = append(streams, final(arriving(t, remembering, shard(d.pieces, i, n)))...)
			}
			slices.Sort(parts)
			slices.Sort(streams)
			same(t, parts, hold(t, held, d.pieces))
			same(t, streams, final(arriving(t, remembering, d.pieces)))
		})
	})
}

// again returns the machine as it is after it was saved.
func again(t *rapid.T, m *attribution.Machine) *attribution.Machine {
	t.Helper()
	restored, err := attribution.Restore(bytes.NewReader(saved(t, m)), attribution.Options{All: true}, ignore)
	if err != nil {
		t.Fatal(err)
	}
	return restored
}

// revisions returns every answer as text, in order.
func revisions(all []said) []string {
	var out []string
	for _, a := range all {
		out = append(out, fmt.Sprintf("revision %d %s", a.revision, a.text))
	}
	return out
}

func TestHostility(t *testing.T) {
	t.Run("ATT-5 ATT-12 ATT-14 dropped evidence never makes a wrong name", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			r, share := random(t, "drops"), rapid.IntRange(0, 90).Draw(t, "share")
			kept := slices.DeleteFunc(slices.Clone(d.pieces), func(p *world.Piece) bool {
				// Without the journal of a session whose ID another takes, the other cannot be told from it.
				return r.IntN(100) < share && !(d.settings.Reused && p.Record != nil)
			})
			hold(t, held, kept)
			arriving(t, attribution.Options{All: true}, kept)
		})
	})
	t.Run("ATT-6 ATT-14 under any memory bound what is named is right", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			o := attribution.Options{All: true, MaxBytes: rapid.IntRange(4<<10, 64<<10).Draw(t, "bytes")}
			arriving(t, o, d.pieces)
			o.Window = attribution.Forever
			hold(t, o, shuffled(t, d.pieces))
		})
	})
	t.Run("ATT-6 ATT-14 with any window, linger and skew what is named is right", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t, false)
			seconds := func(label string, from, to int) time.Duration {
				return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * time.Second
			}
			arriving(t, attribution.Options{All: true, Window: seconds("window", 21, 120), Linger: seconds("linger", 1, 600), Skew: seconds("skew", -1, 30)}, d.pieces)
		})
	})
}
