package sessions_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestMarks(t *testing.T) {
	u := use(t)
	workload := with(u, func(u *sessions.Use) {
		u.Session, u.ExecID, u.Mark.SessionID, u.LoginUID = bridge.SessionID{}, "first", 9, bridge.WorkloadLoginUID
	})
	unmarked := with(u, func(u *sessions.Use) {
		u.Session[0], u.ExecID, u.Mark, u.LoginUID = 1, "e9", sessions.Mark{Node: "n1"}, 0
	})
	marks := sessions.NewMarks([]sessions.Use{workload, u, unmarked, u})
	process := func(node, boot string, session, login uint32) sessions.Process {
		return sessions.Process{Mark: sessions.Mark{Node: node, BootID: boot, SessionID: session}, LoginUID: login}
	}
	mine := id.LoginUID()
	for _, c := range []struct {
		name    string
		p       sessions.Process
		verdict sessions.MarkVerdict
		why     sessions.Reason
		session bridge.SessionID
		claimed bridge.SessionID
	}{
		{name: "BRG-3 a process with the recorded mark is its session's", p: process("n1", "b1", 3, mine), verdict: sessions.MarkRecorded, why: sessions.ReasonMarkSession, session: id},
		{name: "BRG-3 the mark is enough where the login UID is not known", p: process("n1", "b1", 3, 0), verdict: sessions.MarkRecorded, why: sessions.ReasonMarkSession, session: id},
		{name: "BRG-3 a live session's login UID in another session is forged", p: process("n1", "b1", 4, mine), verdict: sessions.MarkForged, why: sessions.ReasonMarkBorrow, claimed: id},
		{name: "BRG-3 a login UID of the range that nobody recorded is forged", p: process("n1", "b1", 4, bridge.MaxLoginUID), verdict: sessions.MarkForged, why: sessions.ReasonMarkUnknown},
		{name: "BRG-3 the range begins with its first UID", p: process("n1", "b1", 4, bridge.MinLoginUID), verdict: sessions.MarkForged, why: sessions.ReasonMarkUnknown},
		{name: "BRG-3 the mark of another boot is not the session's", p: process("n1", "b2", 3, mine), verdict: sessions.MarkForged, why: sessions.ReasonMarkUnknown},
		{name: "BRG-3 the mark on another node is not the session's", p: process("n2", "b1", 3, mine), verdict: sessions.MarkForged, why: sessions.ReasonMarkUnknown},
		{name: "BRG-3 a recorded mark with another login UID is forged", p: process("n1", "b1", 3, 1000), verdict: sessions.MarkForged, why: sessions.ReasonMarkLogin},
		{name: "BRG-3 a process without a mark has none", p: process("n1", "b1", journal.SessionIDUnset, journal.LoginUIDUnset), verdict: sessions.MarkNone, why: sessions.ReasonMarkNone},
		{name: "BRG-3 a process of which nothing is known has none", p: process("n1", "b1", 0, 0), verdict: sessions.MarkNone, why: sessions.ReasonMarkNone},
		{name: "BRG-3 somebody who logged in on the host is another", p: process("n1", "b1", 4, 1000), verdict: sessions.MarkOther, why: sessions.ReasonMarkOther},
		{name: "BRG-3 root who logged in on the host is another", p: process("n1", "b1", 4, 0), verdict: sessions.MarkOther, why: sessions.ReasonMarkOther},
		{name: "BRG-3 beyond the range is another", p: process("n1", "b1", 4, bridge.MaxLoginUID+1), verdict: sessions.MarkOther, why: sessions.ReasonMarkOther},
		{name: "BRG-14 a workload that is marked is another", p: process("n1", "b1", 4, bridge.WorkloadLoginUID), verdict: sessions.MarkOther, why: sessions.ReasonMarkWorkload},
		{name: "BRG-14 a recorded mark without a session is nobody's", p: process("n1", "b1", 9, bridge.WorkloadLoginUID), verdict: sessions.MarkRecorded, why: sessions.ReasonMarkSession},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := marks.Judge(c.p)
			if got.Verdict != c.verdict || got.Why != c.why || got.Use.Session != c.session || got.Claimed != c.claimed {
				t.Errorf("Judge(%+v) = %+v, want %v: %s, %v, claimed %v", c.p, got, c.verdict, c.why, c.session, c.claimed)
			}
			found, ok := marks.Find(c.p.Mark)
			if want := c.verdict == sessions.MarkRecorded || c.why == sessions.ReasonMarkLogin; ok != want || (ok && found.Mark != c.p.Mark) {
				t.Errorf("Find(%+v) = %+v, %v", c.p.Mark, found, ok)
			}
		})
	}
	t.Run("BRG-3 one mark of two sessions is nobody's", func(t *testing.T) {
		other := with(u, func(u *sessions.Use) { u.Session[0], u.ExecID = 1, "e2" })
		marks := sessions.NewMarks([]sessions.Use{u, other})
		if got := marks.Judge(process("n1", "b1", 3, mine)); got.Verdict != sessions.MarkForged || got.Why != sessions.ReasonMarkTwice {
			t.Errorf("%+v", got)
		}
		if got, ok := marks.Find(u.Mark); ok {
			t.Errorf("Find(…) = %+v", got)
		}
	})
	t.Run("BRG-3 no records know no mark", func(t *testing.T) {
		if got := sessions.NewMarks(nil).Judge(process("n1", "b1", 3, mine)); got.Verdict != sessions.MarkForged {
			t.Errorf("%+v", got)
		}
	})
}
