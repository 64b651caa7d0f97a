package attribution

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAges(t *testing.T) {
	type thing struct{ last time.Time }
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	t.Run("ATT-6 what is of use, or was until now, holds up nothing that is over", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			q := newAges(func(x *thing) time.Time { return x.last })
			var model []*thing
			for now := range rapid.IntRange(1, 60).Draw(t, "steps") {
				if rapid.Bool().Draw(t, "new") {
					x := &thing{at(rapid.IntRange(0, 2*now).Draw(t, "of"))} // a clock may be ahead
					q.push(x)
					model = append(model, x)
				}
				if len(model) > 0 && rapid.Bool().Draw(t, "use") {
					x := model[rapid.IntRange(0, len(model)-1).Draw(t, "which")]
					x.last = latest(x.last, at(now))
				}
				var gone []*thing
				q.forget(at(now-10), at(now), func(x *thing) bool {
					gone = append(gone, x)
					return false
				})
				model = slices.DeleteFunc(model, func(x *thing) bool {
					over := x.last.Before(at(now - 10))
					if over != slices.Contains(gone, x) {
						t.Fatalf("at %d, of use at %d: forgotten %t", now, x.last.Unix(), !over)
					}
					return over
				})
				if !slices.Equal(slices.Collect(q.all()), model) {
					t.Fatal("not all is there, in the order in which it came")
				}
			}
			slices.SortStableFunc(model, func(a, b *thing) int { return a.last.Compare(b.last) })
			for _, want := range model {
				if got, ok := q.pop(); !ok || got != want {
					t.Fatalf("popped %v, want %v", got, want)
				}
			}
			if _, ok := q.pop(); ok {
				t.Fatal("something is left")
			}
		})
	})
	t.Run("ATT-6 what is kept is asked about again after as long, not at once", func(t *testing.T) {
		q, asked := newAges(func(x *thing) time.Time { return x.last }), 0
		q.push(&thing{at(0)})
		for now := range 100 {
			q.forget(at(now-10), at(now), func(*thing) bool { asked++; return true })
		}
		if asked != 9 {
			t.Errorf("asked %d times in 100 seconds, want 9", asked)
		}
	})
}
