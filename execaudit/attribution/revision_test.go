package attribution_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// stream is a machine that keeps what it gave.
type stream struct {
	*attribution.Machine
	given []attribution.Answer
	texts []string // revision, verdict and user of each, as it was when it was given
}

func newStream(o attribution.Options) *stream {
	l := &stream{}
	l.Machine = attribution.New(o, func(a *attribution.Answer) {
		user := "-"
		if a.Session != nil {
			user = a.Session.Actor().Name
		}
		l.given, l.texts = append(l.given, *a), append(l.texts, fmt.Sprintf("%d %s %s", a.Revision, a.Verdict, user))
	})
	return l
}

func (l *stream) add(evidence ...any) {
	for _, e := range evidence {
		switch e := e.(type) {
		case attribution.Audit:
			l.AddAudit(&e)
		case attribution.Record:
			l.AddRecord(&e)
		case attribution.Event:
			l.AddEvent(&e)
		}
	}
}

func (l *stream) wants(t *testing.T, want ...string) {
	t.Helper()
	if got := l.texts; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("given %q, want %q", got, want)
	}
}

// after is a time when the window of the first second has passed.
func after(d time.Duration) time.Time { return dawn.Add(attribution.DefaultWindow + 2*time.Second + d) }

func TestRevisions(t *testing.T) {
	alice, root := audit("id-a", "alice"), first("id-a", 10, 100)
	intent, start := journalOf(root)
	reuse := audit("id-a", "mallory")
	reuse.Received = dawn.Add(20 * time.Second)

	t.Run("ATT-14 ATT-16 an audit event that comes after the window and reuses the ID takes the name back", func(t *testing.T) {
		l := newStream(attribution.Options{})
		l.add(alice, intent, start, root)
		l.Advance(after(0))
		l.wants(t, "1 corroborated alice")
		l.add(reuse)
		l.Advance(after(time.Second))
		l.wants(t, "1 corroborated alice", "2 conflicting -")
		if a := l.given[1]; a.Key != l.given[0].Key || len(a.Claims) != 2 || a.Reason != attribution.ReasonReused {
			t.Errorf("%+v", a)
		}
		l.Flush()
		if s := l.Stats(); len(l.given) != 2 || s.Revised != 1 {
			t.Errorf("%q, %+v", l.texts, s)
		}
	})
	t.Run("ATT-16 late evidence of every kind revises, and the same evidence again does not", func(t *testing.T) {
		impersonated := alice
		impersonated.Stage, impersonated.Impersonated = attribution.StageResponseComplete, &attribution.User{Name: "bob"}
		unnamed := intent
		unnamed.Namespace, unnamed.Pod, unnamed.Container = "", "", ""
		nowhere := root
		nowhere.Namespace, nowhere.Pod, nowhere.Container = "", "", ""
		unnamedStart := start
		unnamedStart.Namespace, unnamedStart.Pod, unnamedStart.Container = "", "", ""
		marked := intent
		marked.SessionID, marked.Process.BootID = 9, "boot"
		withMark := root
		withMark.SessionID = 9
		for name, c := range map[string]struct {
			early []any
			late  any
			want  [2]string
		}{
			"audit":         {[]any{intent, start, root}, alice, [2]string{"1 unknown -", "2 corroborated alice"}},
			"impersonation": {[]any{alice, intent, start, root}, impersonated, [2]string{"1 corroborated alice", "2 corroborated bob"}},
			"start":         {[]any{alice, intent, root}, start, [2]string{"1 hint -", "2 corroborated alice"}},
			"mark":          {[]any{alice, intent, withMark}, marked, [2]string{"1 hint -", "2 corroborated alice"}},
			"pod":           {[]any{alice, unnamed, unnamedStart, nowhere}, intent, [2]string{"1 hint -", "2 corroborated alice"}},
		} {
			l := newStream(attribution.Options{})
			l.add(c.early...)
			l.Advance(after(0))
			l.add(c.late)
			l.Advance(after(time.Second))
			l.add(c.late)
			l.Advance(after(2 * time.Second))
			l.Flush()
			if got := l.texts; fmt.Sprint(got) != fmt.Sprint(c.want[:]) {
				t.Errorf("%s: given %q, want %q", name, got, c.want)
			}
		}
	})
	t.Run("ATT-16 an answer that rests on an ancestor's claim stays when the processes are forgotten", func(t *testing.T) {
		l := newStream(attribution.Options{})
		below := child(root, 11, 200)
		l.add(alice, root, below)
		l.Advance(after(0))
		l.add(alice, intent)
		l.Advance(after(time.Second))
		l.Flush()
		l.wants(t, "1 hint -", "1 hint -")
	})
	t.Run("ATT-16 a session's end changes no answer", func(t *testing.T) {
		l := newStream(attribution.Options{})
		l.add(alice, intent, start, root)
		l.Advance(after(0))
		complete, end := alice, start
		complete.Stage, complete.At = attribution.StageResponseComplete, after(0)
		end.Phase, end.Time = attribution.PhaseEnd, after(0)
		l.add(complete, end)
		l.Advance(after(time.Second))
		l.Flush()
		l.wants(t, "1 corroborated alice")
	})
	t.Run("ATT-16 nothing revises an answer once Linger has passed", func(t *testing.T) {
		l := newStream(attribution.Options{})
		l.add(alice, intent, start, root)
		l.Advance(after(0))
		l.Advance(after(attribution.DefaultLinger))
		if s := l.Stats(); s.Answers != 0 {
			t.Errorf("%+v", s)
		}
		l.add(reuse)
		l.Advance(after(attribution.DefaultLinger + time.Second))
		l.Flush()
		l.wants(t, "1 corroborated alice")
	})
	t.Run("ATT-16 Last gives each answer once, as it is in the end", func(t *testing.T) {
		l := newStream(attribution.Options{Last: true})
		l.add(alice, intent, start, root)
		l.Advance(after(0))
		l.wants(t)
		l.add(reuse)
		l.Advance(after(attribution.DefaultLinger))
		l.wants(t, "2 conflicting -")
		l.Flush()
		l.wants(t, "2 conflicting -")
	})
	t.Run("ATT-16 a late event is answered at once and revised as others are", func(t *testing.T) {
		l := newStream(attribution.Options{})
		l.Advance(after(0))
		l.add(intent, start, root)
		far := first("id-z", 99, 40_000)
		l.add(far)
		l.Advance(after(45 * time.Second))
		l.texts = nil
		l.add(child(root, 11, 200), alice)
		l.Advance(after(46 * time.Second))
		l.wants(t, "1 unknown -", "2 corroborated alice", "2 corroborated alice")
	})
	t.Run("ATT-6 ATT-16 the memory bound puts answers beyond revision, and counts them", func(t *testing.T) {
		l := newStream(attribution.Options{MaxBytes: 32 << 10})
		l.add(alice, intent, start, root)
		for i := range 200 {
			l.add(child(root, 100+i, 300+i))
			l.Advance(after(time.Duration(i) * time.Second))
		}
		if s := l.Stats(); s.EvictedAnswers == 0 || s.Bytes > 32<<10 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRepeated(t *testing.T) {
	t.Run("ATT-16 an event that two files tell in the same words is answered once", func(t *testing.T) {
		root := first("id-a", 10, 100)
		other := root
		other.Command = "sh -c id"
		l := newStream(attribution.Options{Window: attribution.Forever})
		l.add(root, other, audit("id-a", "alice"), root, other, root)
		l.Flush()
		if s := l.Stats(); len(l.given) != 2 || s.Repeated != 3 || s.Events != 5 {
			t.Errorf("%q, %+v", l.texts, s)
		}
	})
}

func TestKeys(t *testing.T) {
	e := first("id-a", 10, 100)
	t.Run("ATT-16 a key is the same on every machine", func(t *testing.T) {
		if got := e.Key().String(); got != "70c2dbf84ddaac4a891399eec66bc33f" {
			t.Errorf("key %s", got)
		}
	})
	t.Run("ATT-16 the names of the pod are no part of it, what the agent says of the process is", func(t *testing.T) {
		located := e
		located.Namespace, located.Pod, located.Container = "", "", ""
		if located.Key() != e.Key() {
			t.Error("another key without the pod's names")
		}
		for name, change := range map[string]func(*attribution.Event){
			"time": func(e *attribution.Event) { e.Time = e.Time.Add(1) }, "kind": func(e *attribution.Event) { e.Kind = attribution.KindExit },
			"node": func(e *attribution.Event) { e.Node = "n2" }, "PID": func(e *attribution.Event) { e.Process.PID++ },
			"boot": func(e *attribution.Event) { e.Process.BootID = "b" }, "command": func(e *attribution.Event) { e.Command = "sh -c id" },
			"shifted": func(e *attribution.Event) { e.Agent, e.Node = e.Agent+e.Node, "" }, "mark": func(e *attribution.Event) { e.SessionID = 3 },
		} {
			other := e
			change(&other)
			if other.Key() == e.Key() {
				t.Errorf("the same key with another %s", name)
			}
		}
	})
	t.Run("ATT-16 a key's text is its key", func(t *testing.T) {
		text, _ := e.Key().MarshalText()
		var k attribution.Key
		if err := k.UnmarshalText(text); err != nil || k != e.Key() {
			t.Errorf("%v, %s", err, k)
		}
		for _, bad := range []string{"", "00", string(text) + "00", "zz" + string(text[2:])} {
			if err := k.UnmarshalText([]byte(bad)); err == nil {
				t.Errorf("%q was taken", bad)
			}
		}
	})
}

// hashed is a process by a hash of 32 bits, in a container.
func hashed(hash, parent string, n int, container string) attribution.Event {
	e := child(attribution.Event{}, 10, n)
	e.Process = attribution.Process{ExecID: hash, ExecIDBits: 32, PID: 10}
	e.Parent = attribution.Process{ExecID: parent, ExecIDBits: 32, PID: 11}
	e.ContainerID, e.Namespace, e.Pod, e.Container = container, "", "", ""
	return e
}

func claiming(id string, e attribution.Event) attribution.Event {
	e.AuditID = id
	return e
}

func TestHashes(t *testing.T) {
	const other = "0000" + webID // sorts first
	for name, pieces := range map[string][]attribution.Event{
		"a process that comes to be with the number of an older one's unseen parent": {
			hashed("a", "b", 100, ""), claiming("id-a", hashed("b", "c", 90_000, "")),
		},
		"one of another container, with the number of a process on the way up": {
			hashed("b", "c", 100, webID), hashed("a", "b", 200, webID), hashed("b", "d", 90_000, other),
		},
		"one of another container with its number, and another ID later": {
			hashed("b", "c", 100, webID), claiming("id-a", hashed("a", "b", 200, webID)),
			hashed("a", "d", 90_000, other), claiming("id-b", hashed("a", "d", 180_000, other)),
		},
	} {
		t.Run("ATT-16 "+name+" has the answers revised as if it had been known", func(t *testing.T) {
			late := newStream(attribution.Options{All: true, Linger: time.Hour})
			complete := newStream(attribution.Options{All: true, Window: attribution.Forever})
			for _, e := range pieces {
				late.Advance(e.Time)
				late.add(e)
				complete.add(e)
			}
			late.Flush()
			complete.Flush()
			last := func(answers []attribution.Answer) (last attribution.Answer) {
				for _, a := range answers {
					if a.Event.Process.ExecID == "a" && a.Event.Time.Before(dawn.Add(time.Second)) {
						last = a
					}
				}
				return last
			}
			revised, want := last(late.given), last(complete.given)
			if revised.Revision < 2 || revised.Verdict != want.Verdict || revised.Reason != want.Reason {
				t.Errorf("revision %d: %s (%s), want %s (%s)", revised.Revision, revised.Verdict, revised.Reason, want.Verdict, want.Reason)
			}
		})
	}
}

func TestSkews(t *testing.T) {
	// sessions returns n sessions, a second apart, on a node whose clock is ahead by d.
	sessions := func(n int, d time.Duration) (evidence []any) {
		for i := range n {
			id := fmt.Sprintf("id-%d", i)
			request, root := audit(id, "alice"), first(id, 1000+i, 100)
			shift := time.Duration(i) * time.Second
			request.Received, request.At, root.Time = request.Received.Add(shift), request.At.Add(shift), root.Time.Add(shift+d)
			root.Process.StartTicks += uint64(i) * 100
			intent, start := journalOf(root)
			evidence = append(evidence, request, intent, start, root)
		}
		return evidence
	}
	t.Run("ATT-14 a node's clock that is off costs nobody a name, and is told", func(t *testing.T) {
		for _, d := range []time.Duration{-time.Minute, -3 * time.Second, time.Minute, 4 * time.Minute} {
			l := newStream(attribution.Options{Last: true, Window: attribution.Forever})
			l.add(sessions(20, d)...)
			l.Flush()
			for _, a := range l.given {
				if a.Verdict != attribution.VerdictCorroborated {
					t.Errorf("ahead by %s: %s (%s)", d, a.Verdict, a.Reason)
				}
			}
			if s := l.Skews(); len(s) != 1 || s[0].Node != "n1" || (s[0].Ahead-d).Abs() > time.Second || s[0].Sessions != 20 {
				t.Errorf("ahead by %s: told %+v", d, s)
			}
		}
	})
	t.Run("ATT-14 as answers go on, those from before enough was known are revised", func(t *testing.T) {
		l := newStream(attribution.Options{})
		for _, e := range sessions(40, -5*time.Second) {
			l.add(e)
			if e, ok := e.(attribution.Event); ok {
				l.Advance(e.Time)
			}
		}
		l.Flush()
		last := map[attribution.Key]attribution.Answer{}
		for _, a := range l.given {
			last[a.Key] = a
		}
		for _, a := range last {
			if a.Verdict != attribution.VerdictCorroborated {
				t.Errorf("%s: %s (%s)", a.AuditID, a.Verdict, a.Reason)
			}
		}
	})
	t.Run("ATT-14 of hours that are answered at the end, none is judged by a later hour's clocks alone", func(t *testing.T) {
		l := newStream(attribution.Options{Last: true, Window: attribution.Forever})
		l.add(sessions(7200, time.Minute)...)
		l.Flush()
		for _, a := range l.given {
			if a.Verdict != attribution.VerdictCorroborated {
				t.Fatalf("%s of %s: %s (%s)", a.AuditID, a.Event.Time, a.Verdict, a.Reason)
			}
		}
	})
	t.Run("ATT-6 of many sessions, no more are kept than tell the time", func(t *testing.T) {
		l := newStream(attribution.Options{Window: attribution.Forever})
		l.add(sessions(1000, time.Minute)...)
		l.Flush()
		if s := l.Skews(); len(s) != 1 || s[0].Sessions < 100 || s[0].Sessions > 256 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("ATT-14 a few sessions, or one among others, excuse no time", func(t *testing.T) {
		few := newStream(attribution.Options{Window: attribution.Forever})
		few.add(sessions(attribution.MinSkewSessions, -10*time.Second)...)
		few.Flush()
		odd := newStream(attribution.Options{Window: attribution.Forever})
		odd.add(sessions(30, 0)...)
		stray := first("id-a", 10, -10_000)
		intent, start := journalOf(stray)
		odd.add(audit("id-a", "alice"), intent, start, stray)
		odd.Flush()
		if a := of(odd.given, stray); a.Verdict != attribution.VerdictConflicting || a.Reason != attribution.ReasonTime {
			t.Errorf("%s (%s)", a.Verdict, a.Reason)
		}
		for _, a := range few.given {
			if a.Session != nil {
				t.Errorf("%s (%s)", a.Verdict, a.Reason)
			}
		}
	})
}
