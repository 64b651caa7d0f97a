package sessions_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Few values, so that evidence meets.
var (
	ids   = rapid.SampledFrom([]bridge.SessionID{{1}, {2}, {3}})
	some  = rapid.SampledFrom([]string{"a", "a", "a", "b", ""})
	times = rapid.Map(rapid.IntRange(0, 1200), func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) })
)

func drawRecord(t *rapid.T) sessions.Record {
	r := sessions.Record{
		Session: ids.Draw(t, "session"), Time: times.Draw(t, "time"), User: token.User{Name: some.Draw(t, "user"), UID: some.Draw(t, "uid")},
		Namespace: "shop", Pod: some.Draw(t, "pod"), Node: some.Draw(t, "node"), Source: sessions.SourceExec,
		Outcome: rapid.SampledFrom([]bridge.Outcome{bridge.OutcomeMarked, bridge.OutcomeMarked, bridge.OutcomeMarked, bridge.OutcomeUnmarked, bridge.OutcomeRefused}).Draw(t, "outcome"),
	}
	if rapid.Bool().Draw(t, "token") {
		r.Expiry = r.Time.Add(time.Minute)
	}
	return r
}

func drawAudit(t *rapid.T) sessions.Audit {
	return sessions.Audit{
		Session: ids.Draw(t, "session"), AuditID: rapid.SampledFrom([]string{"x", "x", "x", "y"}).Draw(t, "request"), Stage: some.Draw(t, "stage"),
		Time: times.Draw(t, "time"), User: token.User{Name: some.Draw(t, "user"), UID: some.Draw(t, "uid")}, Pod: some.Draw(t, "pod"), Node: some.Draw(t, "node"),
		Outcome: rapid.SampledFrom([]bridge.Outcome{bridge.OutcomeMarked, bridge.OutcomeMarked, "", bridge.OutcomeUnmarked, bridge.OutcomeRefused}).Draw(t, "outcome"),
	}
}

func drawUse(t *rapid.T) sessions.Use {
	return sessions.Use{
		Session:     ids.Draw(t, "session"),
		Mark:        sessions.Mark{Node: some.Draw(t, "node"), BootID: "b", SessionID: rapid.SampledFrom([]uint32{0, 1, 1, 2}).Draw(t, "kernel")},
		LoginUID:    rapid.SampledFrom([]uint32{0, bridge.MinLoginUID, bridge.MaxLoginUID}).Draw(t, "login"),
		ContainerID: "c", ExecID: some.Draw(t, "exec"), Pod: some.Draw(t, "pod"), Time: times.Draw(t, "time"),
	}
}

func drawEvidence(t *rapid.T) sessions.Evidence {
	return sessions.Evidence{
		Records: rapid.SliceOfN(rapid.Custom(drawRecord), 0, 4).Draw(t, "records"),
		Audits:  rapid.SliceOfN(rapid.Custom(drawAudit), 0, 4).Draw(t, "audits"),
		Uses:    rapid.SliceOfN(rapid.Custom(drawUse), 0, 4).Draw(t, "uses"),
	}
}

func shuffled[T any](t *rapid.T, list []T) []T {
	return rapid.Permutation(list).Draw(t, "order")
}

// again returns the list with some of its elements twice.
func again[T any](t *rapid.T, list []T) []T {
	out := slices.Clone(list)
	for _, element := range list {
		if rapid.Bool().Draw(t, "twice") {
			out = slices.Insert(out, rapid.IntRange(0, len(out)).Draw(t, "at"), element)
		}
	}
	return out
}

func verdicts(all []sessions.Session) map[bridge.SessionID]sessions.Verdict {
	out := map[bridge.SessionID]sessions.Verdict{}
	for _, s := range all {
		out[s.ID] = s.Verdict
	}
	return out
}

func TestJudgeLaws(t *testing.T) {
	t.Run("BRG-12 the order of the evidence does not matter", rapid.MakeCheck(func(t *rapid.T) {
		e, now := drawEvidence(t), times.Draw(t, "now")
		want, before := sessions.Judge(e, now), fmt.Sprintf("%#v", e)
		other := sessions.Evidence{Records: shuffled(t, e.Records), Audits: shuffled(t, e.Audits), Uses: shuffled(t, e.Uses)}
		if got := sessions.Judge(other, now); !reflect.DeepEqual(got, want) {
			t.Fatalf("Judge(%+v) = %+v, want %+v", other, got, want)
		}
		if fmt.Sprintf("%#v", e) != before {
			t.Fatal("the evidence was changed")
		}
	}))
	t.Run("BRG-12 what arrives twice counts once", rapid.MakeCheck(func(t *rapid.T) {
		e, now := drawEvidence(t), times.Draw(t, "now")
		other := sessions.Evidence{Records: again(t, e.Records), Audits: again(t, e.Audits), Uses: again(t, e.Uses)}
		if got, want := sessions.Judge(other, now), sessions.Judge(e, now); !reflect.DeepEqual(got, want) {
			t.Fatalf("Judge(%+v) = %+v, want %+v", other, got, want)
		}
	}))
	t.Run("BRG-12 an audit event or a use that is added lowers no verdict", rapid.MakeCheck(func(t *rapid.T) {
		e, now := drawEvidence(t), times.Draw(t, "now")
		before := verdicts(sessions.Judge(e, now))
		if rapid.Bool().Draw(t, "audit") {
			e.Audits = append(slices.Clone(e.Audits), drawAudit(t))
		} else {
			e.Uses = append(slices.Clone(e.Uses), drawUse(t))
		}
		after := verdicts(sessions.Judge(e, now))
		for id, v := range before {
			if after[id] < v {
				t.Fatalf("%v: %v became %v by %+v", id, v, after[id], e)
			}
		}
	}))
	t.Run("BRG-12 a conflict stays one whatever is added", rapid.MakeCheck(func(t *rapid.T) {
		e, more, now := drawEvidence(t), drawEvidence(t), times.Draw(t, "now")
		before := verdicts(sessions.Judge(e, now))
		e.Records = slices.Concat(e.Records, more.Records)
		e.Audits = slices.Concat(e.Audits, more.Audits)
		e.Uses = slices.Concat(e.Uses, more.Uses)
		after := verdicts(sessions.Judge(e, now))
		for id, v := range before {
			if v == sessions.VerdictConflicting && after[id] != v {
				t.Fatalf("%v: %v became %v", id, v, after[id])
			}
		}
	}))
	t.Run("BRG-12 sessions do not touch each other", rapid.MakeCheck(func(t *rapid.T) {
		e, now := drawEvidence(t), times.Draw(t, "now")
		for _, s := range sessions.Judge(e, now) {
			alone := sessions.Evidence{
				Records: slices.DeleteFunc(slices.Clone(e.Records), func(r sessions.Record) bool { return r.Session != s.ID }),
				Audits:  slices.DeleteFunc(slices.Clone(e.Audits), func(a sessions.Audit) bool { return a.Session != s.ID }),
				Uses:    slices.DeleteFunc(slices.Clone(e.Uses), func(u sessions.Use) bool { return u.Session != s.ID }),
			}
			if got := sessions.Judge(alone, now); len(got) != 1 || !reflect.DeepEqual(got[0], s) {
				t.Fatalf("Judge(…) = %+v, want %+v", got, s)
			}
		}
	}))
	t.Run("BRG-12 a verdict says what its evidence is", rapid.MakeCheck(func(t *rapid.T) {
		e, now := drawEvidence(t), times.Draw(t, "now")
		for _, s := range sessions.Judge(e, now) {
			named := s.User.Name != "" || s.User.UID != ""
			records, audits, uses := len(s.Records) > 0, len(s.Audits) > 0, len(s.Uses) > 0
			ok := map[sessions.Verdict]bool{
				sessions.VerdictForged:       uses && !records && !audits && !named,
				sessions.VerdictUnused:       !uses && (records || audits),
				sessions.VerdictAdmitted:     records && !audits,
				sessions.VerdictCorroborated: audits,
				sessions.VerdictRefused:      !uses && (records || audits),
				sessions.VerdictConflicting:  len(s.Records)+len(s.Audits)+len(s.Uses) > 1 && (!named || s.Why == sessions.ReasonRequests),
			}[s.Verdict]
			if !ok || s.Why == "" || s.Time.IsZero() {
				t.Fatalf("%+v", s)
			}
		}
	}))
	t.Run("BRG-12 time alone makes sessions unused and nothing else", rapid.MakeCheck(func(t *rapid.T) {
		e, now := drawEvidence(t), times.Draw(t, "now")
		before := verdicts(sessions.Judge(e, now))
		after := verdicts(sessions.Judge(e, now.Add(time.Duration(rapid.IntRange(0, 1e4).Draw(t, "later"))*time.Second)))
		for id, v := range before {
			if after[id] != v && after[id] != sessions.VerdictUnused {
				t.Fatalf("%v: %v became %v", id, v, after[id])
			}
		}
	}))
}

func TestMarksLaws(t *testing.T) {
	t.Run("BRG-3 a process is a session's only by the mark that was recorded", rapid.MakeCheck(func(t *rapid.T) {
		uses := rapid.SliceOfN(rapid.Custom(drawUse), 0, 5).Draw(t, "uses")
		u := drawUse(t)
		p := sessions.Process{Mark: u.Mark, LoginUID: u.LoginUID}
		got := sessions.NewMarks(uses).Judge(p)
		recorded := slices.ContainsFunc(uses, func(u sessions.Use) bool { return u.Mark == p.Mark && p.SessionID != 0 })
		switch {
		case got.Verdict == sessions.MarkRecorded && (!recorded || got.Use.Mark != p.Mark),
			!recorded && p.SessionID != 0 && p.LoginUID >= bridge.MinLoginUID && got.Verdict != sessions.MarkForged,
			got.Verdict != sessions.MarkRecorded && got.Use != (sessions.Use{}):
			t.Fatalf("Judge(%+v) = %+v of %+v", p, got, uses)
		}
		if other := sessions.NewMarks(again(t, shuffled(t, uses))).Judge(p); other != got {
			t.Fatalf("Judge(%+v) = %+v in one order, %+v in another", p, got, other)
		}
	}))
}

func TestRecordLaws(t *testing.T) {
	text := rapid.StringN(0, 20, 200)
	texts := rapid.SliceOfN(text, 1, 5)
	t.Run("BRG-12 a record within its bounds comes back from its line", rapid.MakeCheck(func(t *rapid.T) {
		want := drawRecord(t)
		want.Reason, want.RequestUID, want.Container, want.PodUID = text.Draw(t, "reason"), text.Draw(t, "request"), text.Draw(t, "container"), text.Draw(t, "pod")
		want.Command, want.TTY = texts.Draw(t, "command"), rapid.Bool().Draw(t, "tty")
		want.User.Groups = texts.Draw(t, "groups")
		want.User.Extra = rapid.MapOfN(text, texts, 1, 3).Draw(t, "extra")
		line, err := sessions.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := sessions.Decode(line); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("Decode(Encode(r)) = %+v, %v, want %+v", got, err, want)
		}
	}))
	t.Run("BRG-12 a record of any size fits into its line, and comes back as it was written", rapid.MakeCheck(func(t *rapid.T) {
		r := drawRecord(t)
		huge := rapid.Custom(func(t *rapid.T) string {
			return string(slices.Repeat([]byte(rapid.SampledFrom([]string{"\x00", "é", "\xff", "\"", "a"}).Draw(t, "of")), rapid.IntRange(0, 80<<10).Draw(t, "times")))
		})
		r.Command, r.Reason = rapid.SliceOfN(huge, 0, 3).Draw(t, "command"), huge.Draw(t, "reason")
		r.User.Name, r.User.Groups = huge.Draw(t, "name"), rapid.SliceOfN(huge, 0, 3).Draw(t, "groups")
		r.User.Extra = rapid.MapOfN(huge, rapid.SliceOfN(huge, 0, 2), 0, 2).Draw(t, "extra")
		line, err := sessions.Encode(r)
		if err != nil || len(line) > sessions.MaxLineBytes {
			t.Fatalf("%d bytes, %v", len(line), err)
		}
		got, err := sessions.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := sessions.Encode(got); err != nil || string(again) != string(line) {
			t.Fatalf("%d bytes became %d, %v", len(line), len(again), err)
		}
	}))
}
