package sessions_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func audit() sessions.Audit {
	return sessions.Audit{
		Session: id, AuditID: "a-1", Stage: "ResponseStarted", Time: at.Add(-time.Millisecond), User: record().User, Namespace: "shop", Pod: "cart-0",
		Node: "n1", Outcome: bridge.OutcomeMarked,
	}
}

var where = journal.Session{
	Node: "n1", ContainerID: "4f5e", ExecID: "e1", ExecSession: id.String(), Namespace: "shop", Pod: "cart-0", PodUID: "0b2b", Container: "app",
}

var marked = journal.Process{PID: 7, StartTicks: 100, BootID: "b1", SessionID: 3, LoginUID: id.LoginUID()}

func use(t testing.TB) sessions.Use {
	t.Helper()
	u, ok := sessions.UseOf(journal.Marked(journal.Intent(where, []string{"sh"}, true, at.Add(time.Second)), marked))
	if !ok {
		t.Fatal("an intent is no use")
	}
	return u
}

// with returns a copy that is changed.
func with[T any](value T, change func(*T)) T {
	change(&value)
	return value
}

func TestJudge(t *testing.T) {
	r, a, u := record(), audit(), use(t)
	before, after := at.Add(30*time.Second), at.Add(time.Hour)
	records := func(all ...sessions.Record) []sessions.Record { return all }
	audits := func(all ...sessions.Audit) []sessions.Audit { return all }
	uses := func(all ...sessions.Use) []sessions.Use { return all }
	unmarked := with(r, func(r *sessions.Record) { r.Outcome, r.Expiry = bridge.OutcomeUnmarked, time.Time{} })
	refused := with(r, func(r *sessions.Record) {
		r.Outcome, r.Expiry, r.Time = bridge.OutcomeRefused, time.Time{}, r.Time.Add(1)
	})
	for _, c := range []struct {
		name    string
		have    sessions.Evidence
		now     time.Time
		verdict sessions.Verdict
		why     sessions.Reason
		user    string
	}{
		{"BRG-12 a record alone is admitted", sessions.Evidence{Records: records(r)}, before, sessions.VerdictAdmitted, sessions.ReasonRecord, "alice"},
		{"BRG-12 a record and its use are admitted", sessions.Evidence{Records: records(r), Uses: uses(u)}, after, sessions.VerdictAdmitted, sessions.ReasonRecord, "alice"},
		{"BRG-12 an audit event raises it to corroborated", sessions.Evidence{Records: records(r), Audits: audits(a), Uses: uses(u)}, after, sessions.VerdictCorroborated, sessions.ReasonAudit, "alice"},
		{"BRG-12 an audit event alone is enough", sessions.Evidence{Audits: audits(a), Uses: uses(u)}, after, sessions.VerdictCorroborated, sessions.ReasonAudit, "alice"},
		{"BRG-12 several stages of one request are one", sessions.Evidence{Audits: audits(a, with(a, func(a *sessions.Audit) { a.Stage = "ResponseComplete" }))}, at, sessions.VerdictCorroborated, sessions.ReasonAudit, "alice"},
		{"BRG-12 a used token with neither is forged", sessions.Evidence{Uses: uses(u)}, at, sessions.VerdictForged, sessions.ReasonNeither, ""},
		{"BRG-12 unused is said after the expiry", sessions.Evidence{Records: records(r), Audits: audits(a)}, r.Expiry.Add(1), sessions.VerdictUnused, sessions.ReasonExpired, "alice"},
		{"BRG-12 unused is not said at the expiry", sessions.Evidence{Records: records(r), Audits: audits(a)}, r.Expiry, sessions.VerdictCorroborated, sessions.ReasonAudit, "alice"},
		{"BRG-12 without a record, unused is said after the longest lifetime", sessions.Evidence{Audits: audits(a)}, a.Time.Add(token.MaxLifetime + 1), sessions.VerdictUnused, sessions.ReasonExpired, "alice"},
		{"BRG-12 a marked record without an expiry waits as long", sessions.Evidence{Records: records(with(r, func(r *sessions.Record) { r.Expiry = time.Time{} }))}, at.Add(token.MaxLifetime), sessions.VerdictAdmitted, sessions.ReasonRecord, "alice"},
		{"BRG-7 an attach is never unused", sessions.Evidence{Records: records(with(r, func(r *sessions.Record) {
			r.Source, r.Outcome, r.Expiry = sessions.SourceAttach, bridge.OutcomeRecorded, time.Time{}
		}))}, after, sessions.VerdictAdmitted, sessions.ReasonRecord, "alice"},
		{"BRG-5 an unmarked session is never unused", sessions.Evidence{Records: records(unmarked), Audits: audits(with(a, func(a *sessions.Audit) { a.Outcome = bridge.OutcomeUnmarked }))}, after, sessions.VerdictCorroborated, sessions.ReasonAudit, "alice"},
		{"BRG-4 a refused request is refused", sessions.Evidence{Records: records(refused), Audits: audits(with(a, func(a *sessions.Audit) { a.Outcome = bridge.OutcomeRefused }))}, after, sessions.VerdictRefused, sessions.ReasonRefused, "alice"},
		{"BRG-4 a request that is refused when the webhook is called again is refused", sessions.Evidence{Records: records(refused, r), Audits: audits(a)}, at, sessions.VerdictRefused, sessions.ReasonRefused, "alice"},
		{"BRG-4 a refused request's token that was used is a conflict", sessions.Evidence{Records: records(refused, r), Uses: uses(u)}, at, sessions.VerdictConflicting, sessions.ReasonNoToken, ""},
		{"BRG-4 a use where no token was signed is a conflict", sessions.Evidence{Records: records(unmarked), Uses: uses(u)}, at, sessions.VerdictConflicting, sessions.ReasonNoToken, ""},
		{"BRG-12 an audit event of another user is a conflict", sessions.Evidence{Records: records(r), Audits: audits(with(a, func(a *sessions.Audit) { a.User.Name = "bob" }))}, at, sessions.VerdictConflicting, sessions.ReasonUsers, ""},
		{"BRG-12 an audit event of another user of that name is a conflict", sessions.Evidence{Records: records(r), Audits: audits(with(a, func(a *sessions.Audit) { a.User.UID = "u-2" }))}, at, sessions.VerdictConflicting, sessions.ReasonUsers, ""},
		{"BRG-12 an audit event without the user's UID agrees", sessions.Evidence{Records: records(r), Audits: audits(with(a, func(a *sessions.Audit) { a.User.UID = "" }))}, at, sessions.VerdictCorroborated, sessions.ReasonAudit, "alice"},
		{"BRG-12 a use on another node than the audit event's is a conflict: a node speaks for itself alone", sessions.Evidence{Audits: audits(with(a, func(a *sessions.Audit) { a.Node = "n2" })), Uses: uses(u)}, at, sessions.VerdictConflicting, sessions.ReasonPlace, ""},
		{"BRG-4 two requests with one session ID are a conflict, and a user who sends a token again stays named", sessions.Evidence{Audits: audits(a, with(a, func(a *sessions.Audit) { a.AuditID = "a-2" }))}, at, sessions.VerdictConflicting, sessions.ReasonRequests, "alice"},
		{"BRG-12 an audit event of another pod is a conflict", sessions.Evidence{Records: records(r), Audits: audits(with(a, func(a *sessions.Audit) { a.Pod = "cart-1" }))}, at, sessions.VerdictConflicting, sessions.ReasonPlace, ""},
		{"BRG-4 a use in another pod is a conflict", sessions.Evidence{Records: records(r), Uses: uses(with(u, func(u *sessions.Use) { u.PodUID = "ffff" }))}, at, sessions.VerdictConflicting, sessions.ReasonPlace, ""},
		{"BRG-4 a use in another container is a conflict", sessions.Evidence{Records: records(r), Uses: uses(with(u, func(u *sessions.Use) { u.Container = "db" }))}, at, sessions.VerdictConflicting, sessions.ReasonPlace, ""},
		{"BRG-4 a use on another node is a conflict", sessions.Evidence{Records: records(r), Uses: uses(with(u, func(u *sessions.Use) { u.Mark.Node = "n2" }))}, at, sessions.VerdictConflicting, sessions.ReasonPlace, ""},
		{"BRG-4 two uses are a conflict", sessions.Evidence{Records: records(r), Uses: uses(u, with(u, func(u *sessions.Use) { u.ExecID = "e2" }))}, at, sessions.VerdictConflicting, sessions.ReasonUses, ""},
		{"BRG-4 two marks of one exec are two uses", sessions.Evidence{Records: records(r), Uses: uses(u, with(u, func(u *sessions.Use) { u.Mark.SessionID = 4 }))}, at, sessions.VerdictConflicting, sessions.ReasonUses, ""},
		{"BRG-12 lines that arrive twice count once", sessions.Evidence{Records: records(r, r), Audits: audits(a, a), Uses: uses(u, u)}, at, sessions.VerdictCorroborated, sessions.ReasonAudit, "alice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := sessions.Judge(c.have, c.now)
			if len(got) != 1 || got[0].ID != id || got[0].Verdict != c.verdict || got[0].Why != c.why || got[0].User.Name != c.user {
				t.Fatalf("Judge(…) = %+v, want %v: %s, %q", got, c.verdict, c.why, c.user)
			}
		})
	}
	t.Run("BRG-12 who impersonated the user is told", func(t *testing.T) {
		got := sessions.Judge(sessions.Evidence{Records: records(r), Audits: audits(with(a, func(a *sessions.Audit) { a.By = "admin" }))}, at)
		if got[0].By != "admin" || got[0].User.Name != "alice" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("BRG-12 sessions come by time and ID", func(t *testing.T) {
		other, later := record(), record()
		other.Session[0], later.Session[0], later.Time = 0, 1, at.Add(1)
		got := sessions.Judge(sessions.Evidence{Records: records(later, r, other)}, at)
		if len(got) != 3 || got[0].ID != other.Session || got[1].ID != id || got[2].ID != later.Session {
			t.Errorf("%+v", got)
		}
	})
	t.Run("BRG-12 no evidence is no session", func(t *testing.T) {
		if got := sessions.Judge(sessions.Evidence{Uses: uses(with(u, func(u *sessions.Use) { u.Session = bridge.SessionID{} }))}, at); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestUseOf(t *testing.T) {
	none := where
	none.ExecSession = ""
	odd := where
	odd.ExecSession = "x"
	for _, c := range []struct {
		name string
		r    journal.Record
		ok   bool
	}{
		{"BRG-3 an intent", journal.Marked(journal.Intent(where, nil, false, at), marked), true},
		{"BRG-3 an intent without a mark", journal.Intent(where, nil, false, at), true},
		{"BRG-3 a start", journal.Start(where, marked, at), true},
		{"BRG-3 an end", journal.End(where, marked, 0, at), true},
		{"BRG-14 a mark without a session", journal.Start(none, marked, at), true},
		{"BRG-4 a refusal is not a use", journal.Refused(where, "expired", nil, false, at), false},
		{"BRG-5 neither a session nor a mark", journal.Intent(none, nil, false, at), false},
		{"BRG-4 an ID of another form", journal.Intent(odd, nil, false, at), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := sessions.UseOf(c.r)
			if ok != c.ok || (ok && (got.Mark.Node != "n1" || !got.Time.Equal(at))) {
				t.Errorf("UseOf(…) = %+v, %v, want %v", got, ok, c.ok)
			}
		})
	}
	t.Run("BRG-3 the records of one process are one use", func(t *testing.T) {
		var uses []sessions.Use
		late := where
		late.Container = ""
		for _, r := range []journal.Record{
			journal.End(where, marked, 0, at.Add(2)), journal.Intent(late, nil, false, at), journal.Start(where, marked, at.Add(1)),
		} {
			u, _ := sessions.UseOf(r)
			uses = append(uses, u)
		}
		got := sessions.Judge(sessions.Evidence{Uses: uses}, at)
		if len(got) != 1 || len(got[0].Uses) != 1 || got[0].Uses[0].Mark.SessionID != 3 || !got[0].Uses[0].Time.Equal(at) || got[0].Uses[0].Container != "app" {
			t.Errorf("%+v", got)
		}
	})
}
