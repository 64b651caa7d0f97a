package attribution_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// attack is alice's session in a container where mallory has one, too, and processes of mallory's.
type attack struct {
	alice, mallory   attribution.Audit
	victim, attacker attribution.Event // the first processes
	victimJournal    []any             // of alice's session
	journal          []any             // of both
	escaped, silent  attribution.Event // mallory's, with the shim as parent: claiming alice's ID, and nothing
}

// The kernel's audit sessions of the two.
const (
	alicesMark  = 41
	mallorysOwn = 42
)

func newAttack(marked bool) attack {
	x := attack{alice: audit("id-a", "alice"), mallory: audit("id-m", "mallory"), victim: first("id-a", 10, 100), attacker: first("id-m", 20, 110)}
	if marked {
		x.victim.SessionID, x.attacker.SessionID = alicesMark, mallorysOwn
	}
	for _, e := range []attribution.Event{x.victim, x.attacker} {
		intent, start := journalOf(e)
		intent.SessionID, start.SessionID, intent.Process.BootID = e.SessionID, e.SessionID, e.Process.BootID
		x.journal = append(x.journal, intent, start)
	}
	x.victimJournal = x.journal[:2:2]
	// clone(CLONE_PARENT) in mallory's first process: the child's parent is that one's, outside of the container.
	x.escaped = first("id-a", 30, 200)
	x.escaped.SessionID = x.attacker.SessionID
	x.silent = x.escaped
	x.silent.AuditID = ""
	return x
}

func (x *attack) with(more ...any) []any {
	return append([]any{x.alice, x.mallory, x.victim, x.attacker}, more...)
}

func of(answers []attribution.Answer, e attribution.Event) attribution.Answer {
	for _, a := range answers {
		if a.Event.Process == e.Process && a.Event.Time.Equal(e.Time) {
			return a
		}
	}
	return attribution.Answer{Reason: "no answer"}
}

func holds(t *testing.T, a attribution.Answer, v attribution.Verdict, why attribution.Reason, user string) {
	t.Helper()
	got := ""
	if a.Session != nil {
		got = a.Session.Actor().Name
	}
	if a.Verdict != v || a.Reason != why || got != user {
		t.Errorf("%s (%s) of %q, want %s (%s) of %q", a.Verdict, a.Reason, got, v, why, user)
	}
}

func TestCloneParent(t *testing.T) {
	t.Run("ATT-14 a child with a parent outside of the container is no session's first process", func(t *testing.T) {
		x := newAttack(false)
		got := tale(attribution.Options{}, x.alice, x.mallory, x.escaped) // no journal, and the victim's first process unseen
		holds(t, of(got, x.escaped), attribution.VerdictHint, attribution.ReasonNoChain, "")
	})
	t.Run("ATT-14 it spoils nothing of the session that it claims", func(t *testing.T) {
		x := newAttack(false)
		got := tale(attribution.Options{}, x.with(x.escaped)...)
		holds(t, of(got, x.victim), attribution.VerdictHint, attribution.ReasonNoChain, "")
		got = tale(attribution.Options{}, x.with(append(x.journal, x.escaped)...)...)
		holds(t, of(got, x.victim), attribution.VerdictCorroborated, attribution.ReasonChain, "alice")
		holds(t, of(got, x.escaped), attribution.VerdictHint, attribution.ReasonNoChain, "")
	})
	t.Run("ATT-14 with a cleared environment it is unknown", func(t *testing.T) {
		x := newAttack(false)
		holds(t, of(tale(attribution.Options{}, x.with(append(x.journal, x.silent)...)...), x.silent), attribution.VerdictUnknown, attribution.ReasonNoID, "")
	})
	t.Run("ATT-13 with the kernel's session it is simply the attacker's", func(t *testing.T) {
		x := newAttack(true)
		got := tale(attribution.Options{}, x.with(append(x.journal, x.escaped)...)...)
		a := of(got, x.escaped)
		holds(t, a, attribution.VerdictCorroborated, attribution.ReasonKernelSpoofed, "mallory")
		if len(a.Claims) != 1 || a.Claims[0].User.Name != "alice" || a.AuditID != "id-m" {
			t.Errorf("claims %v, audit ID %s", a.Claims, a.AuditID)
		}
		holds(t, of(got, x.victim), attribution.VerdictCorroborated, attribution.ReasonKernel, "alice")
		got = tale(attribution.Options{}, x.with(append(x.journal, x.silent)...)...)
		holds(t, of(got, x.silent), attribution.VerdictCorroborated, attribution.ReasonKernel, "mallory")
	})
}

func TestMarks(t *testing.T) {
	t.Run("ATT-13 a mark that the journal has for two sessions anchors neither", func(t *testing.T) {
		x := newAttack(true)
		for i, r := range x.journal {
			r := r.(attribution.Record)
			r.SessionID = 7
			x.journal[i] = r
		}
		stranger := child(first("", 90, 1), 91, 300)
		stranger.SessionID = 7
		got := tale(attribution.Options{}, x.with(append(x.journal, stranger)...)...)
		if a := of(got, stranger); a.Session != nil {
			t.Errorf("%s (%s)", a.Verdict, a.Reason)
		}
	})
	t.Run("ATT-13 a mark that only the process was found to have is not the session's", func(t *testing.T) {
		x := newAttack(true)
		for i, r := range x.journal {
			r := r.(attribution.Record)
			if r.Phase == attribution.PhaseIntent {
				r.SessionID = 0
			}
			x.journal[i] = r
		}
		stranger := child(first("", 90, 1), 91, 300)
		stranger.SessionID = alicesMark // as all that the login has started
		got := tale(attribution.Options{}, x.with(append(x.journal, stranger)...)...)
		holds(t, of(got, stranger), attribution.VerdictUnknown, attribution.ReasonNoID, "")
		holds(t, of(got, x.victim), attribution.VerdictCorroborated, attribution.ReasonChain, "alice")
	})
	t.Run("ATT-13 a mark that was there before the session is not the session's", func(t *testing.T) {
		x := newAttack(true)
		daemon := child(first("", 90, 1), 91, -5000)
		daemon.SessionID = alicesMark // as of a login from which the runtime was started
		later := daemon
		later.Time = dawn.Add(time.Second)
		got := tale(attribution.Options{}, x.with(append(x.journal, daemon, later)...)...)
		for _, a := range []attribution.Answer{of(got, daemon), of(got, later)} {
			if a.Session != nil {
				t.Errorf("%s (%s)", a.Verdict, a.Reason)
			}
		}
		holds(t, of(got, x.victim), attribution.VerdictCorroborated, attribution.ReasonChain, "alice")
	})
	t.Run("ATT-13 a kernel session of another boot, or of none, is another", func(t *testing.T) {
		for _, boot := range []string{"", "boot before"} {
			x := newAttack(true)
			stranger := child(first("", 90, 1), 91, 300)
			stranger.SessionID, stranger.Process.BootID = alicesMark, boot
			if a := of(tale(attribution.Options{}, x.with(append(x.journal, stranger)...)...), stranger); a.Session != nil {
				t.Errorf("%q: %s (%s)", boot, a.Verdict, a.Reason)
			}
		}
	})
	t.Run("ATT-13 a login UID names nobody as fact", func(t *testing.T) {
		x := newAttack(true)
		for i, r := range x.journal {
			r := r.(attribution.Record)
			if r.AuditID == "id-a" {
				r.LoginUID = 2013265920
			}
			x.journal[i] = r
		}
		liar := child(first("", 90, 1), 91, 300)
		liar.LoginUID, liar.SessionID = 2013265920, 99
		a := of(tale(attribution.Options{}, x.with(append(x.journal, liar)...)...), liar)
		holds(t, a, attribution.VerdictHint, attribution.ReasonLoginUID, "")
		if len(a.Claims) != 1 || a.Claims[0].User.Name != "alice" {
			t.Errorf("claims %v", a.Claims)
		}
	})
	t.Run("ATT-14 a session that the runtime started beneath another's mark is conflicting", func(t *testing.T) {
		x := newAttack(true)
		beneath := first("id-b", 50, 400) // by a runtime that alice's session restarted, which can set no mark
		beneath.SessionID = alicesMark
		intent, start := journalOf(beneath)
		got := tale(attribution.Options{}, x.with(append(x.journal, audit("id-b", "bob"), beneath, intent, start)...)...)
		holds(t, of(got, beneath), attribution.VerdictConflicting, attribution.ReasonOtherSession, "")
	})
	t.Run("ATT-14 a process that left its session's mark is conflicting", func(t *testing.T) {
		x := newAttack(true)
		left := child(x.victim, 11, 300)
		left.SessionID = 77
		holds(t, of(tale(attribution.Options{}, x.with(append(x.journal, left)...)...), left), attribution.VerdictConflicting, attribution.ReasonOtherSession, "")
	})
	t.Run("ATT-13 a bridge's session is found by its own ID", func(t *testing.T) {
		alice, root := audit("id-a", "alice"), first("", 10, 100)
		alice.ExecSession, root.ExecSession = "session-1", "session-1"
		a := of(story(attribution.Options{}, alice, root), root)
		holds(t, a, attribution.VerdictCorroborated, attribution.ReasonChain, "alice")
		if a.AuditID != "id-a" || a.ExecSession != "session-1" {
			t.Errorf("IDs %q, %q", a.AuditID, a.ExecSession)
		}
		forger := child(root, 11, 200)
		forger.ExecSession = "session-2"
		holds(t, of(story(attribution.Options{}, alice, root, forger), forger), attribution.VerdictConflicting, attribution.ReasonSpoofed, "")
		forger.ExecSession, forger.AuditID = "", "id-a" // its own request's, however it knows
		holds(t, of(story(attribution.Options{}, alice, root, forger), forger), attribution.VerdictCorroborated, attribution.ReasonChain, "alice")
	})
}

func TestIdentities(t *testing.T) {
	t.Run("ATT-14 hashes of 32 bits, and start times of an unknown boot, corroborate nobody", func(t *testing.T) {
		alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
		for name, weaken := range map[string]func(*attribution.Process){
			"hash": func(p *attribution.Process) { p.ExecID, p.ExecIDBits = string(rune('a'+p.PID)), 32 },
			"boot": func(p *attribution.Process) { p.BootID = "" },
		} {
			intent, start := journalOf(root)
			weaken(&start.Process)
			weak, below := root, child(root, 11, 200)
			for _, p := range []*attribution.Process{&weak.Process, &below.Process, &below.Parent} {
				weaken(p)
			}
			got := tale(attribution.Options{}, alice, intent, start, weak, below)
			if a := of(got, below); a.Verdict > attribution.VerdictHint {
				t.Errorf("%s: %s (%s)", name, a.Verdict, a.Reason)
			}
		}
	})
	t.Run("ATT-14 a wide hash does", func(t *testing.T) {
		p := attribution.Process{ExecID: "x", ExecIDBits: attribution.MinExecIDBits}
		if !p.Certain() {
			t.Error("not certain")
		}
	})
	t.Run("ATT-14 a process whose PID came after the end is not the session's", func(t *testing.T) {
		alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
		intent, start := journalOf(root)
		end := start
		end.Phase, end.Time = attribution.PhaseEnd, dawn.Add(500*time.Millisecond)
		reused := first("id-a", 10, 600)
		for _, p := range []attribution.Process{{PID: 10, ExecID: "image-9"}, {PID: 10}} {
			reused.Process = p
			if a := of(tale(attribution.Options{}, alice, intent, start, end, root, reused), reused); a.Session != nil {
				t.Errorf("%+v: %s (%s)", p, a.Verdict, a.Reason)
			}
			if a := of(tale(attribution.Options{}, alice, intent, start, root, reused), reused); a.Session != nil {
				t.Errorf("%+v, its end unknown: %s (%s)", p, a.Verdict, a.Reason)
			}
		}
	})
	t.Run("ATT-14 a process that had the session's PID before it, between the intent and the start, is not the session's", func(t *testing.T) {
		alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
		intent, start := journalOf(root)
		for image, want := range map[uint64]string{root.Process.StartTicks: "alice", root.Process.StartTicks + 3: "alice", root.Process.StartTicks - 1: "", 0: ""} {
			seen := root
			seen.Process, seen.ImageTicks = attribution.Process{PID: 10, ExecID: "image-1"}, image
			a := of(tale(attribution.Options{}, alice, intent, start, seen), seen)
			if (a.Session != nil) != (want != "") {
				t.Errorf("image at %d, process at %d: %s (%s)", image, root.Process.StartTicks, a.Verdict, a.Reason)
			}
		}
	})
	t.Run("ATT-14 a parent link between two containers is no evidence", func(t *testing.T) {
		alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
		other := child(root, 11, 200)
		other.ContainerID, other.Namespace, other.Pod, other.Container = "0123456789abcdef", "mail", "mta", "app"
		below := child(other, 12, 300)
		below.ContainerID, below.Namespace, below.Pod, below.Container = other.ContainerID, "mail", "mta", "app"
		got := story(attribution.Options{}, alice, root, other, below)
		holds(t, of(got, other), attribution.VerdictUnknown, attribution.ReasonEdge, "")
		holds(t, of(got, below), attribution.VerdictUnknown, attribution.ReasonEdge, "")
	})
	t.Run("ATT-14 one process is not the first of two sessions", func(t *testing.T) {
		x := newAttack(false)
		x.attacker.Process = x.victim.Process
		intent, start := journalOf(x.attacker)
		intent.ExecID, start.ExecID = "another", "another"
		got := tale(attribution.Options{}, x.with(append(x.victimJournal, intent, start)...)...)
		holds(t, of(got, x.victim), attribution.VerdictConflicting, attribution.ReasonTwoClaims, "")
	})
}

func TestRequests(t *testing.T) {
	t.Run("ATT-14 the first stage of an audit event names nobody: it has not who is impersonated", func(t *testing.T) {
		received, root := audit("id-a", "alice"), first("id-a", 10, 100)
		received.Stage, received.Code = attribution.StageRequestReceived, 0
		holds(t, story(attribution.Options{}, received, root)[0], attribution.VerdictHint, attribution.ReasonFirstStage, "")
		as := audit("id-a", "alice")
		as.Impersonated = &attribution.User{Name: "bob"}
		holds(t, story(attribution.Options{}, received, as, root)[0], attribution.VerdictCorroborated, attribution.ReasonChain, "bob")
	})
	t.Run("ATT-14 an ID that two sessions of a node had stays so when one is forgotten", func(t *testing.T) {
		alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
		replay := first("id-a", 20, 24_000) // past the API server
		intent, start := journalOf(root)
		again, begun := journalOf(replay)
		end := start
		end.Phase, end.Time = attribution.PhaseEnd, dawn.Add(25*time.Second)
		l := newStream(attribution.Options{})
		l.add(alice, intent, start, again, begun, end)
		l.Advance(after(0))
		l.Advance(after(10 * time.Minute))
		l.Advance(after(20 * time.Minute))
		late := replay
		late.Time = after(20 * time.Minute)
		l.add(late)
		l.Flush()
		l.wants(t, "1 conflicting -")
	})
	t.Run("ATT-14 a request that was never upgraded is no session", func(t *testing.T) {
		plain := audit("id-a", "alice")
		plain.Code = 200
		holds(t, story(attribution.Options{}, plain, first("id-a", 10, 100))[0], attribution.VerdictConflicting, attribution.ReasonRefused, "")
	})
	t.Run("ATT-5 what a session may have left behind is a hint, what was there before it is not", func(t *testing.T) {
		alice, late, early := audit("id-a", "alice"), first("id-a", 10, 60_000), first("id-a", 11, -60_000)
		alice.Stage, alice.At = attribution.StageResponseComplete, dawn.Add(time.Second)
		got := tale(attribution.Options{}, alice, late, early)
		holds(t, of(got, late), attribution.VerdictHint, attribution.ReasonNoChain, "")
		holds(t, of(got, early), attribution.VerdictConflicting, attribution.ReasonTime, "")
	})
	t.Run("ATT-14 an ID of two requests lists both as claims", func(t *testing.T) {
		again := audit("id-a", "mallory")
		again.Received = dawn.Add(time.Second)
		a := story(attribution.Options{}, again, audit("id-a", "alice"), first("id-a", 10, 100))[0]
		holds(t, a, attribution.VerdictConflicting, attribution.ReasonReused, "")
		if len(a.Claims) != 2 || a.Claims[0].User.Name != "alice" || a.Claims[1].User.Name != "mallory" {
			t.Errorf("claims %v", a.Claims)
		}
		hint := tale(attribution.Options{}, again, audit("id-a", "alice"), first("id-a", 10, 100))[0]
		if len(hint.Claims) != 2 {
			t.Errorf("claims of a process without a session: %v", hint.Claims)
		}
	})
}
