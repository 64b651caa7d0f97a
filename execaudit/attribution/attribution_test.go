package attribution_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

const webID = "8762eafc25a35ab90089"

func audit(id, user string) attribution.Audit {
	return attribution.Audit{
		AuditID: id, Stage: attribution.StageResponseStarted, User: attribution.User{Name: user, UID: "u-1", Groups: []string{"dev"}},
		Namespace: "shop", Pod: "web-0", Container: "app", Command: []string{"sh"}, Code: 101, Received: dawn, At: dawn.Add(50 * time.Millisecond),
	}
}

// first returns the exec event of a session's first process, n milliseconds after the request.
func first(id string, pid, n int) attribution.Event {
	return attribution.Event{
		Time: dawn.Add(time.Duration(n) * time.Millisecond), Kind: attribution.KindExec, Agent: "test", Node: "n1", ContainerID: webID,
		Namespace: "shop", Pod: "web-0", Container: "app", Process: process(pid, n), Parent: process(1, 1),
		AuditID: id, FirstImage: true, ParentOutside: true, Command: "sh",
	}
}

// process is one by number and start.
func process(pid, start int) attribution.Process {
	return attribution.Process{PID: pid, StartTicks: uint64(start), BootID: "boot"}
}

// journalOf returns what a runtime's journal has of the session that e's process is the first of.
func journalOf(e attribution.Event) (intent, start attribution.Record) {
	intent = attribution.Record{
		Time: e.Time.Add(-10 * time.Millisecond), Node: e.Node, ContainerID: e.ContainerID, ExecID: fmt.Sprint("exec-", e.Process), AuditID: e.AuditID,
		ExecSession: e.ExecSession, Namespace: e.Namespace, Pod: e.Pod, Container: e.Container,
	}
	start = intent
	start.Phase, start.Time, start.Process = attribution.PhaseStart, e.Time.Add(5*time.Millisecond), e.Process
	return intent, start
}

// child is a process forked by parent, without an ID of its own in sight.
func child(parent attribution.Event, pid, n int) attribution.Event {
	e := first("", pid, n)
	e.Kind, e.Parent, e.ParentOutside, e.FirstImage = attribution.KindFork, parent.Process, false, false
	return e
}

// story is told with a journal of the sessions of all first processes.
func story(o attribution.Options, evidence ...any) []attribution.Answer {
	told := evidence
	for _, e := range evidence {
		if e, ok := e.(attribution.Event); ok && e.ParentOutside {
			intent, start := journalOf(e)
			told = append(told, intent, start)
		}
	}
	return tale(o, told...)
}

// tale runs evidence through a machine that answers at its end, and returns the answers in order.
func tale(o attribution.Options, evidence ...any) []attribution.Answer {
	o.Window, o.All = attribution.Forever, true
	var feeds []feed
	for _, e := range evidence {
		switch e := e.(type) {
		case attribution.Audit:
			feeds = append(feeds, func(m *attribution.Machine) { m.AddAudit(&e) })
		case attribution.Record:
			feeds = append(feeds, func(m *attribution.Machine) { m.AddRecord(&e) })
		case attribution.Event:
			feeds = append(feeds, func(m *attribution.Machine) { m.AddEvent(&e) })
		}
	}
	return answers(o, feeds)
}

// expect holds the last answer.
func expect(t *testing.T, got []attribution.Answer, v attribution.Verdict, why attribution.Reason) attribution.Answer {
	t.Helper()
	a := got[len(got)-1]
	if a.Verdict != v || a.Reason != why {
		t.Errorf("verdict %s (%s), want %s (%s)", a.Verdict, a.Reason, v, why)
	}
	return a
}

func TestVerdicts(t *testing.T) {
	alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
	t.Run("ATT-1 corroborated carries the whole audit event", func(t *testing.T) {
		full := alice
		full.Impersonated, full.SourceIPs, full.UserAgent = &attribution.User{Name: "bob"}, []string{"203.0.113.9"}, "kubectl"
		full.User.Extra = map[string][]string{"k": {"v"}}
		s := expect(t, story(attribution.Options{}, full, root), attribution.VerdictCorroborated, attribution.ReasonChain).Session
		want := fmt.Sprint(full.User, "bob", full.SourceIPs, full.UserAgent, full.Namespace, full.Pod, full.Container, full.Command, dawn)
		if got := fmt.Sprint(s.User, s.Actor().Name, s.SourceIPs, s.UserAgent, s.Namespace, s.Pod, s.Container, s.Command, s.Received); got != want {
			t.Errorf("session %s, want %s", got, want)
		}
	})
	t.Run("ATT-2 a grandchild is attributed after its parent exited and the parent's PID was used again", func(t *testing.T) {
		parent := child(root, 11, 200)
		gone := parent
		gone.Kind, gone.Time = attribution.KindExit, dawn.Add(300*time.Millisecond)
		stranger := child(first("", 99, 1), 11, 400) // PID 11 again
		grandchild := child(parent, 12, 250)
		late := grandchild
		late.Kind, late.Time = attribution.KindActivity, dawn.Add(time.Second)
		expect(t, story(attribution.Options{}, alice, root, parent, gone, grandchild, stranger, late), attribution.VerdictCorroborated, attribution.ReasonChain)
		expect(t, story(attribution.Options{}, alice, root, parent, gone, stranger), attribution.VerdictUnknown, attribution.ReasonNoID)
	})
	t.Run("ATT-12 a missing link leaves a hint, whose name is a claim", func(t *testing.T) {
		orphan := child(child(root, 11, 200), 12, 250)
		orphan.AuditID = "id-a"
		a := expect(t, story(attribution.Options{}, alice, root, orphan), attribution.VerdictHint, attribution.ReasonNoChain)
		if a.Session != nil || len(a.Claims) != 1 || a.Claims[0].User.Name != "alice" {
			t.Errorf("session %v, claimed %v", a.Session, a.Claims)
		}
	})
	t.Run("ATT-5 a process that claims another's session is conflicting, and so is one that hides its own", func(t *testing.T) {
		forger := child(root, 11, 200)
		forger.AuditID, forger.Kind = "id-b", attribution.KindExec
		a := expect(t, story(attribution.Options{}, alice, audit("id-b", "bob"), root, forger), attribution.VerdictConflicting, attribution.ReasonSpoofed)
		if a.Session != nil || a.AuditID != "id-a" || a.Claims[0].User.Name != "bob" {
			t.Errorf("answer %+v", a)
		}
		forger.AuditID = placeholder
		expect(t, story(attribution.Options{}, alice, root, forger), attribution.VerdictConflicting, attribution.ReasonSpoofed)
	})
	t.Run("ATT-1 ATT-5 a forger whose agent names no pod stands in its container's, not in the claimed session's", func(t *testing.T) {
		bob := audit("id-b", "bob")
		bob.Pod = "web-1"
		forger := child(root, 11, 200)
		forger.AuditID, forger.Namespace, forger.Pod, forger.Container = "id-b", "", "", ""
		e := expect(t, story(attribution.Options{}, alice, bob, root, forger), attribution.VerdictConflicting, attribution.ReasonSpoofed).Event
		if e.Namespace != "shop" || e.Pod != "web-0" || e.Container != "app" {
			t.Errorf("in %s/%s/%s, want shop/web-0/app", e.Namespace, e.Pod, e.Container)
		}
	})
	cases := []struct {
		name     string
		verdict  attribution.Verdict
		why      attribution.Reason
		evidence []any
	}{
		{"ATT-5 ATT-7 an ID of two requests", attribution.VerdictConflicting, attribution.ReasonReused, []any{alice, func() attribution.Audit { a := audit("id-a", "mallory"); a.Received = dawn.Add(time.Minute); return a }(), root}},
		{"ATT-5 ATT-7 an ID of two sessions, one request lost", attribution.VerdictConflicting, attribution.ReasonManyRoots, []any{alice, first("id-a", 20, 120), root}},
		{"ATT-5 the placeholder", attribution.VerdictPlaceholder, attribution.ReasonPlaceholder, []any{first(placeholder, 10, 100)}},
		{"ATT-5 an ID nobody logged", attribution.VerdictUnknown, attribution.ReasonNoAudit, []any{root}},
		{"ATT-5 another pod", attribution.VerdictConflicting, attribution.ReasonPod, []any{func() attribution.Audit { a := alice; a.Pod = "web-1"; return a }(), root}},
		{"ATT-5 another container", attribution.VerdictConflicting, attribution.ReasonContainer, []any{func() attribution.Audit { a := alice; a.Container = "sidecar"; return a }(), root}},
		{"ATT-5 before the request", attribution.VerdictConflicting, attribution.ReasonTime, []any{alice, first("id-a", 10, -3000)}},
		{"ATT-5 within the skew", attribution.VerdictCorroborated, attribution.ReasonChain, []any{alice, first("id-a", 10, -1000)}},
		{"ATT-5 long after the request", attribution.VerdictConflicting, attribution.ReasonTime, []any{alice, first("id-a", 10, 60_000)}},
		{"ATT-5 a refused request", attribution.VerdictConflicting, attribution.ReasonRefused, []any{func() attribution.Audit { a := alice; a.Code = 403; return a }(), root}},
		{"ATT-5 no place known", attribution.VerdictHint, attribution.ReasonNoPod, []any{alice, func() attribution.Event { e := root; e.Namespace, e.Pod, e.Container = "", "", ""; return e }()}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { expect(t, story(attribution.Options{}, c.evidence...), c.verdict, c.why) })
	}
	t.Run("ATT-4 overlapping sessions on one pod are told apart", func(t *testing.T) {
		other := first("id-b", 20, 110)
		got := story(attribution.Options{}, alice, audit("id-b", "bob"), root, other, child(root, 11, 120), child(other, 21, 125), child(root, 12, 130))
		var users []string
		for _, a := range got {
			users = append(users, a.Session.User.Name)
		}
		if fmt.Sprint(users) != "[alice bob alice bob alice]" {
			t.Errorf("users %v", users)
		}
	})
	t.Run("ATT-7 the latest stage counts, in any order", func(t *testing.T) {
		early, late := alice, alice
		early.Stage, early.Code, early.At = attribution.StageRequestReceived, 0, dawn
		late.Impersonated = &attribution.User{Name: "bob"}
		for _, order := range [][]any{{early, late, root}, {late, early, root}} {
			a := expect(t, story(attribution.Options{}, order...), attribution.VerdictCorroborated, attribution.ReasonChain)
			if a.Session.Actor().Name != "bob" || a.Session.Started.IsZero() {
				t.Errorf("session %+v", a.Session)
			}
		}
	})
	t.Run("ATT-3 SPO's request UID finds the session, as a hint", func(t *testing.T) {
		with := alice
		with.RequestUID = "uid-1"
		e := attribution.Event{Time: dawn.Add(time.Second), Node: "n1", Namespace: "shop", Pod: "web-0", Process: attribution.Process{PID: 5}, RequestUID: "uid-1"}
		a := expect(t, story(attribution.Options{}, with, e), attribution.VerdictHint, attribution.ReasonNoChain)
		if a.AuditID != "id-a" || a.Claims[0].User.Name != "alice" {
			t.Errorf("answer %+v", a)
		}
	})
}

func TestJournal(t *testing.T) {
	alice := audit("id-a", "alice")
	intent := attribution.Record{
		Time: dawn.Add(90 * time.Millisecond), Node: "n1", ContainerID: webID, ExecID: "e1", AuditID: "id-a", Namespace: "shop", Pod: "web-0", Container: "app",
	}
	start, end := intent, intent
	start.Phase, start.Time, start.Process = attribution.PhaseStart, dawn.Add(105*time.Millisecond), process(10, 100)
	end.Phase, end.Time, end.Process = attribution.PhaseEnd, dawn.Add(900*time.Millisecond), start.Process
	silent := child(first("", 1, 1), 10, 200) // nothing of the environment was read
	silent.Process, silent.Namespace, silent.Pod = process(10, 100), "", ""
	t.Run("ATT-12 the journal's first process needs no ID in its environment", func(t *testing.T) {
		expect(t, tale(attribution.Options{}, alice, intent, start, silent), attribution.VerdictCorroborated, attribution.ReasonChain)
	})
	t.Run("ATT-12 where a journal is kept, nothing else makes a first process", func(t *testing.T) {
		expect(t, tale(attribution.Options{}, alice, audit("id-b", "bob"), intent, start, end, first("id-b", 30, 950)), attribution.VerdictHint, attribution.ReasonNoChain)
	})
	t.Run("ATT-5 a session without an ID cannot take one", func(t *testing.T) {
		i, s := intent, start
		i.AuditID, s.AuditID = "", ""
		forger := silent
		forger.AuditID = "id-a"
		expect(t, tale(attribution.Options{}, alice, i, s, silent), attribution.VerdictUnknown, attribution.ReasonSessionNoID)
		expect(t, tale(attribution.Options{}, alice, i, s, forger), attribution.VerdictConflicting, attribution.ReasonInvented)
	})
	t.Run("ATT-2 an agent without start times is matched while the journal holds the PID, and not once the end is unknown", func(t *testing.T) {
		e := silent
		e.Process = attribution.Process{PID: 10, ExecID: "image-7"}
		expect(t, tale(attribution.Options{}, alice, intent, start, end, e), attribution.VerdictCorroborated, attribution.ReasonChain)
		expect(t, tale(attribution.Options{}, alice, intent, start, e), attribution.VerdictUnknown, attribution.ReasonNoID)
		late := e
		late.Time = dawn.Add(time.Second)
		expect(t, tale(attribution.Options{}, alice, intent, start, end, late), attribution.VerdictUnknown, attribution.ReasonNoID)
	})
}

func TestBounds(t *testing.T) {
	t.Run("ATT-6 memory stays within its bound and what it cost is counted", func(t *testing.T) {
		const bound = 256 << 10
		named := 0
		m := attribution.New(attribution.Options{MaxBytes: bound, Window: attribution.Forever}, func(a *attribution.Answer) {
			if a.Session != nil {
				named++
			}
		})
		for i := range 5000 {
			id := fmt.Sprintf("id-%d", i)
			a, e := audit(id, "alice"), first(id, 10+i, 100)
			intent, start := journalOf(e)
			m.AddAudit(&a)
			m.AddRecord(&intent)
			m.AddRecord(&start)
			m.AddEvent(&e)
		}
		m.Flush()
		s := m.Stats()
		if s.PeakBytes > bound+16<<10 || s.EvictedSessions == 0 || s.EvictedProcesses == 0 || s.EarlyAnswers == 0 {
			t.Errorf("stats %+v", s)
		}
		if named > 5000-s.EarlyAnswers {
			t.Errorf("%d named, %d early", named, s.EarlyAnswers)
		}
	})
	t.Run("ATT-6 the clock answers what its window has passed for, and forgets what is over", func(t *testing.T) {
		var got []attribution.Answer
		m := attribution.New(attribution.Options{}, func(a *attribution.Answer) { got = append(got, *a) })
		root := first("id-a", 10, 100)
		intent, start := journalOf(root)
		m.AddRecord(&intent)
		m.AddRecord(&start)
		m.AddEvent(&root)
		m.Advance(dawn.Add(attribution.DefaultWindow))
		a := audit("id-a", "alice") // late, but within the window
		m.AddAudit(&a)
		if len(got) != 0 {
			t.Fatal("answered within the window")
		}
		m.Advance(dawn.Add(attribution.DefaultWindow + 2*time.Second))
		if len(got) != 1 || got[0].Verdict != attribution.VerdictCorroborated {
			t.Fatalf("answers %v", got)
		}
		a.Stage, a.At = attribution.StageResponseComplete, dawn.Add(time.Minute)
		m.AddAudit(&a)
		exit := root
		exit.Kind, exit.Time = attribution.KindExit, dawn.Add(time.Minute)
		m.AddEvent(&exit)
		end := start
		end.Phase, end.Time = attribution.PhaseEnd, exit.Time
		m.AddRecord(&end)
		m.Advance(dawn.Add(time.Hour))
		m.Advance(dawn.Add(2 * time.Hour))
		m.Advance(dawn.Add(3 * time.Hour))
		if s := m.Stats(); s.Sessions != 0 || s.Processes != 0 || s.Pending != 0 {
			t.Errorf("still held: %+v", s)
		}
	})
}

func TestFilter(t *testing.T) {
	a := story(attribution.Options{}, audit("id-a", "alice"), first("id-a", 10, 100))[0]
	for _, c := range []struct {
		filter attribution.Filter
		want   bool
	}{
		{attribution.Filter{}, true},
		{attribution.Filter{User: "alice", Group: "dev", Namespace: "shop", Pod: "web-0", Command: "s"}, true},
		{attribution.Filter{User: "bob"}, false},
		{attribution.Filter{Group: "ops"}, false},
		{attribution.Filter{Namespace: "mail"}, false},
		{attribution.Filter{Pod: "web-1"}, false},
		{attribution.Filter{Command: "bash"}, false},
	} {
		t.Run(fmt.Sprintf("ATT-10 %+v", c.filter), func(t *testing.T) {
			if got := c.filter.Match(&a); got != c.want {
				t.Errorf("Match = %t, want %t", got, c.want)
			}
		})
	}
}
