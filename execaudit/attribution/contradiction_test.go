package attribution_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestContradictoryJournal(t *testing.T) {
	alice, shell := audit("id-a", "alice"), first("id-a", 10, 100)
	intent, start := journalOf(shell)
	below := child(shell, 11, 200)
	other := func(change func(*attribution.Record)) attribution.Record {
		r := start
		change(&r)
		return r
	}
	for name, r := range map[string]attribution.Record{
		"audit IDs":       other(func(r *attribution.Record) { r.AuditID = "id-b" }),
		"first processes": other(func(r *attribution.Record) { r.Process = process(11, 200) }),
		"sessions":        other(func(r *attribution.Record) { r.ExecID, r.AuditID = "another", "id-b" }),
	} {
		t.Run("ATT-6 ATT-14 two "+name+" of one session give the same answers in any order, and no name", func(t *testing.T) {
			evidence := []any{alice, audit("id-b", "bob"), intent, start, r, shell, below}
			var want string
			for range 2 {
				var got string
				for _, a := range tale(attribution.Options{}, evidence...) {
					got += fmt.Sprintln(a.Event.Process.PID, a.Verdict, a.Reason, a.AuditID, a.ExecSession, len(a.Claims))
					if a.Session != nil {
						t.Errorf("%s is a fact: %s", a.Session.User.Name, a.Reason)
					}
				}
				if want != "" && got != want {
					t.Errorf("in one order\n%sin another\n%s", want, got)
				}
				want = got
				slices.Reverse(evidence)
			}
		})
	}
	t.Run("ATT-6 ATT-14 of two ends of one session the first counts, in any order", func(t *testing.T) {
		end := start
		end.Phase, end.Time = attribution.PhaseEnd, dawn.Add(time.Second)
		later := end
		later.Time = dawn.Add(10 * time.Second)
		reused := child(first("", 99, 1), 10, 5000) // between the two; its agent knows no start
		reused.Process.StartTicks = 0
		for _, ends := range [][]any{{end, later}, {later, end}} {
			got := tale(attribution.Options{}, append(ends, alice, intent, start, reused)...)
			holds(t, of(got, reused), attribution.VerdictUnknown, attribution.ReasonNoID, "")
		}
	})
	t.Run("ATT-14 a mark that two sessions had marks none when the first is forgotten", func(t *testing.T) {
		bobs := first("id-b", 20, 900)
		shell, end := shell, start
		shell.SessionID, bobs.SessionID = alicesMark, alicesMark
		intent, start := intended(shell)
		second, secondStart := intended(bobs)
		end.Phase, end.Time = attribution.PhaseEnd, dawn.Add(2*time.Second)
		l := newStream(attribution.Options{})
		l.add(alice, audit("id-b", "bob"), intent, start, second, secondStart, end)
		for n := range 40 {
			l.Advance(dawn.Add(time.Duration(n) * 30 * time.Second))
		}
		secondEnd := secondStart
		secondEnd.Phase, secondEnd.Time = attribution.PhaseEnd, dawn.Add(20*time.Minute)
		stranger := child(first("", 99, 1), 30, 5000)
		stranger.SessionID, stranger.Time = alicesMark, dawn.Add(20*time.Minute)
		l.add(secondEnd, stranger)
		l.Advance(dawn.Add(25 * time.Minute))
		for _, a := range l.given {
			if a.Session != nil {
				t.Errorf("%s is a fact: %s", a.Session.User.Name, a.Reason)
			}
		}
	})
}
