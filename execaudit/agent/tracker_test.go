package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

const (
	boot   = "7a3f1c52-0000-4000-8000-000000000001"
	inA    = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	inB    = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	login  = agent.MinLoginUID + 5
	hostNS = 4026531840
	ownNS  = 4026532000
)

var booted = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)

// told is what a Tracker gave.
type told struct {
	*agent.Tracker
	events  []agent.Event
	notices []agent.Notice
}

func track(o agent.Options) *told {
	t := &told{}
	o.Node, o.BootID, o.Boot, o.MountNS = "n1", boot, booted, hostNS
	if o.Container == nil {
		o.Container = func(_ uint64, path string) agent.Container { return agent.ParseCgroup(path) }
	}
	t.Tracker = agent.New(o, func(e *agent.Event) {
		kept := *e
		kept.Args = append([]string(nil), e.Args...)
		t.events = append(t.events, kept)
	}, func(n *agent.Notice) { t.notices = append(t.notices, *n) })
	return t
}

// of returns the kinds of the notices.
func (t *told) of() string {
	var kinds []string
	for _, n := range t.notices {
		kinds = append(kinds, string(n.Kind))
	}
	return strings.Join(kinds, " ")
}

func (t *told) roles() string {
	var roles []string
	for _, e := range t.events {
		roles = append(roles, fmt.Sprintf("%v %d %v", e.Observation.Kind, e.Observation.PID, e.Role))
	}
	return strings.Join(roles, ", ")
}

func task(pid int) agent.Task {
	return agent.Task{PID: pid, Start: time.Duration(pid)*time.Second + 1}
}

func cgroup(id string) string {
	if id == "" {
		return "/system.slice/containerd.service"
	}
	return "/kubepods/burstable/pod11111111-2222-3333-4444-555555555555/" + id
}

func observation(kind agent.Kind, mark uint32, pid int, in string) *agent.Observation {
	o := &agent.Observation{
		Kind: kind, At: task(pid).Start + time.Second, Task: task(pid), SessionID: mark, LoginUID: login, Cgroup: cgroup(in),
		MountNS: ownNS, Status: -1,
	}
	if in == "" {
		o.MountNS = hostNS
	}
	return o
}

func fork(mark uint32, pid, parent int, in string) *agent.Observation {
	o := observation(agent.KindFork, mark, pid, in)
	o.Parent = task(parent)
	return o
}

func run(mark uint32, pid int, in string, args ...string) *agent.Observation {
	o := observation(agent.KindExec, mark, pid, in)
	o.Args = redact.NewBytes([]byte(strings.Join(args, "\x00") + "\x00"))
	return o
}

func exit(mark uint32, pid int, in string) *agent.Observation {
	o := observation(agent.KindExit, mark, pid, in)
	o.Status = 0
	return o
}

func session(id, container string) journal.Session {
	return journal.Session{
		Node: "n1", ContainerID: container, ExecID: id, AuditID: "audit-" + id, Namespace: "shop",
		Pod: "web-0", Container: "app",
	}
}

func intent(id string, mark uint32, container string) *journal.Record {
	r := journal.Marked(journal.Intent(session(id, container), []string{"sh"}, false, booted),
		journal.Process{BootID: boot, SessionID: mark, LoginUID: login})
	return &r
}

// exec are the observations of a runc exec of one command, as a kernel tells them.
func exec(mark uint32, base int, in string) []*agent.Observation {
	inCgroup := run(mark, base+2, in, "runc", "init")
	inCgroup.MountNS = hostNS
	return []*agent.Observation{
		run(mark, base, "", "runc", "exec"), fork(mark, base+1, base, ""), run(mark, base+1, "", "runc", "init"), fork(mark,
			base+2, base+1, ""),
		inCgroup, exit(mark, base+1, ""), run(mark, base+2, in, "sh"), fork(mark, base+3, base+2, in), run(mark, base+3, in,
			"id"),
		exit(mark, base+3, in), exit(mark, base+2, in), exit(mark, base, ""),
	}
}

func TestTracker(t *testing.T) {
	t.Run("AGT-1 a session begins with its first program in the container; what is older is the runtime's",
		func(t *testing.T) {
			k := track(agent.Options{})
			k.AddRecord(intent("e1", 7, inA))
			for _, o := range exec(7, 10, inA) {
				k.Observe(o)
			}
			const want = "exec 10 runtime, fork 11 runtime, exec 11 runtime, fork 12 runtime, exec 12 runtime, exit 11 runtime, " +
				"exec 12 session, fork 13 session, exec 13 session, exit 13 session, exit 12 session, exit 10 runtime"
			if got := k.roles(); got != want {
				t.Errorf("roles\n%s, want\n%s", got, want)
			}
		})
	t.Run("AGT-3 the session and the container are in the event", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		k.Observe(run(7, 12, inA, "sh"))
		e := k.events[0]
		if e.Session == nil || e.Session.AuditID != "audit-e1" || e.ContainerID != inA || e.Pod != "web-0" ||
			e.Process.BootID != boot || e.Process.StartTicks != 1200 {
			t.Errorf("event %+v", e)
		}
	})
	t.Run("AGT-1 a mark that no record has is forged, told once with the first process", func(t *testing.T) {
		k := track(agent.Options{})
		k.Advance(booted.Add(time.Hour))
		k.Observe(run(9, 20, inB, "sh"))
		k.Observe(fork(9, 21, 20, inB))
		if len(k.events)+len(k.notices) != 0 {
			t.Fatal("told before its time")
		}
		k.Advance(booted.Add(time.Hour + agent.DefaultHold))
		k.Observe(exit(9, 21, inB))
		k.Advance(booted.Add(2 * time.Hour))
		if k.of() != "forged" || k.notices[0].Process.PID != 20 || k.notices[0].ContainerID != inB ||
			k.notices[0].SessionID != 9 {
			t.Errorf("notices %+v", k.notices)
		}
		if len(k.events) != 3 || k.events[0].Session != nil || k.events[0].Role != agent.RoleSession {
			t.Errorf("events %+v", k.events)
		}
	})
}

// at returns the time some seconds after the boot's first hour.
func at(seconds int) time.Time { return booted.Add(time.Hour + time.Duration(seconds)*time.Second) }

func TestTrackerRecords(t *testing.T) {
	t.Run("AGT-3 a record that comes later than Hold joins what comes after it", func(t *testing.T) {
		k := track(agent.Options{})
		k.Advance(at(0))
		k.Observe(run(7, 12, inA, "sh"))
		k.Advance(at(3))
		k.AddRecord(intent("e1", 7, inA))
		k.Observe(exit(7, 12, inA))
		if k.of() != "forged" || k.events[0].Session != nil || k.events[1].Session == nil ||
			k.events[1].Role != agent.RoleSession {
			t.Errorf("notices %s, events %+v", k.of(), k.events)
		}
	})
	for name, change := range map[string]func(*journal.Record){
		"another boot":               func(r *journal.Record) { r.BootID = "another" },
		"no boot":                    func(r *journal.Record) { r.BootID = "" },
		"another session":            func(r *journal.Record) { r.SessionID = 8 },
		"no session":                 func(r *journal.Record) { r.SessionID = 0 },
		"another login UID":          func(r *journal.Record) { r.LoginUID++ },
		"no login UID":               func(r *journal.Record) { r.LoginUID = 0 },
		"a refusal":                  func(r *journal.Record) { *r = journal.Refused(r.Session, "no", nil, false, booted) },
		"a start without its intent": func(r *journal.Record) { r.Kind, r.PID, r.StartTicks = journal.KindStart, 12, 1200 },
		"an end without its intent":  func(r *journal.Record) { r.Kind, r.Reason = journal.KindEnd, "lost" },
	} {
		t.Run("AGT-1 a mark is not believed for a record of "+name, func(t *testing.T) {
			k := track(agent.Options{})
			k.Advance(at(0))
			r := intent("e1", 7, inA)
			change(r)
			k.AddRecord(r)
			k.Observe(run(7, 12, inA, "sh"))
			k.Advance(at(3))
			if k.of() != "forged" || len(k.events) != 1 || k.events[0].Session != nil {
				t.Errorf("notices %s, events %+v", k.of(), k.events)
			}
		})
	}
	t.Run("AGT-1 two sessions with one mark: neither is believed, which is told once", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		k.AddRecord(intent("e2", 7, inA))
		k.AddRecord(intent("e3", 7, inA))
		k.Observe(run(7, 12, inA, "sh"))
		k.Advance(at(9))
		if k.of() != "conflict" || k.events[0].Session != nil || k.Counts().Conflicts != 1 {
			t.Errorf("notices %s, events %+v", k.of(), k.events)
		}
	})
	t.Run("AGT-1 a login UID outside of the range is not forged, and waits for nothing", func(t *testing.T) {
		k := track(agent.Options{})
		o := run(7, 12, inA, "sh")
		o.LoginUID = agent.MinLoginUID - 1 // which marks what is of no session
		k.Observe(o)
		k.Advance(at(9))
		if k.of() != "" || len(k.events) != 1 || k.events[0].Session != nil {
			t.Errorf("notices %s, events %+v", k.of(), k.events)
		}
	})
	t.Run("AGT-2 a flood of marks without records is held within its bound; what leaves early is told",
		func(t *testing.T) {
			k := track(agent.Options{MaxHeldBytes: 10_000, MaxSessions: 50})
			k.Advance(at(0))
			for i := range uint32(1000) {
				k.Observe(run(i+1, int(i)+1, inB, "sh"))
			}
			if c := k.Counts(); c.Held > 40 || c.Marks > 50 || c.Early == 0 || c.Events+c.Held != 1000 {
				t.Errorf("Counts = %+v", c)
			}
			k.Advance(at(1))
			if !strings.HasPrefix(k.of(), "blind") {
				t.Errorf("notices %s", k.of())
			}
		})
	t.Run("AGT-3 a session is known as long as it has processes, and a while after its end", func(t *testing.T) {
		k := track(agent.Options{})
		k.Advance(at(0))
		k.AddRecord(intent("e1", 7, inA))
		k.Observe(run(7, 12, inA, "sh"))
		end := journal.End(session("e1", inA), journal.Process{
			PID: 12, StartTicks: 1200, BootID: boot, SessionID: 7,
			LoginUID: login,
		}, 0, booted)
		k.AddRecord(&end)
		k.Advance(at(600))
		if c := k.Counts(); c.Sessions != 1 {
			t.Errorf("forgotten while it runs: %+v", c)
		}
		k.Observe(exit(7, 12, inA))
		k.Advance(at(610))
		if got := k.Sessions(); len(got) != 0 || k.Counts().Sessions != 1 {
			t.Errorf("Sessions = %+v, Counts = %+v", got, k.Counts())
		}
		k.Advance(at(900))
		if c := k.Counts(); c.Sessions != 0 {
			t.Errorf("not forgotten: %+v", c)
		}
	})
	t.Run("AGT-2 a record from long ago is known to a Tracker that has just been made", func(t *testing.T) {
		k := track(agent.Options{})
		k.Advance(at(100_000))
		k.AddRecord(intent("e1", 7, inA))
		end := journal.End(session("e1", inA), journal.Process{
			PID: 12, StartTicks: 1200, BootID: boot, SessionID: 7,
			LoginUID: login,
		}, 0, booted)
		k.AddRecord(&end)
		k.Advance(at(100_020))
		k.Observe(exit(7, 12, inA))
		if len(k.events) != 1 || k.events[0].Session == nil {
			t.Errorf("events %+v", k.events)
		}
	})
}

func TestTrackerRoles(t *testing.T) {
	t.Run("AGT-1 where namespaces are not known, the container's cgroup decides", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		for _, o := range exec(7, 10, inA) {
			if o.MountNS = 0; o.Kind == agent.KindExec && o.PID == 12 && string(o.Args.Reveal()) == "runc\x00init\x00" {
				continue // is in the cgroup, and cannot be told from the session's then
			}
			k.Observe(o)
		}
		const want = "exec 10 runtime, fork 11 runtime, exec 11 runtime, fork 12 runtime, exit 11 runtime, " +
			"exec 12 session, fork 13 session, exec 13 session, exit 13 session, exit 12 session, exit 10 runtime"
		if got := k.roles(); got != want {
			t.Errorf("roles\n%s, want\n%s", got, want)
		}
	})
	t.Run("AGT-1 a runtime in a mount namespace of its own", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		for _, o := range exec(7, 10, inA) {
			if o.MountNS == hostNS {
				o.MountNS = 99
			}
			k.Observe(o)
		}
		if got := k.roles(); !strings.Contains(got, "exec 12 runtime, exit 11 runtime, exec 12 session") {
			t.Errorf("roles %s", got)
		}
	})
	t.Run("AGT-1 what started later is the session's, though its fork was told as another's: CLONE_PARENT for the connector", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		for _, o := range exec(7, 10, inA)[:7] {
			o.Origin = agent.OriginConnector
			k.Observe(o)
		}
		child := fork(7, 14, 10, inA) // the connector says that runc made it
		child.Origin = agent.OriginConnector
		k.Observe(child)
		if got := k.events[7]; got.Role != agent.RoleSession || got.Session == nil {
			t.Errorf("event %+v", got)
		}
	})
	t.Run("AGT-2 after a loss nothing of a session is told as the runtime's", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		k.Observe(run(7, 10, "", "runc"))
		k.Lost(5, time.Time{}, booted, "x")
		k.Observe(fork(7, 13, 12, inA))
		k.Observe(run(7, 10, "", "x"))
		for _, e := range k.events[1:] {
			if e.Role != agent.RoleSession || e.ForkSeen && e.Process.PID != 13 {
				t.Errorf("event %+v", e)
			}
		}
		if k.of() != "lost" || k.notices[0].Count != 5 {
			t.Errorf("notices %+v", k.notices)
		}
	})
}

func TestTrackerProcesses(t *testing.T) {
	t.Run("AGT-1 a second process of a PID is another one", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		k.Observe(fork(7, 13, 12, inA))
		again := run(7, 13, inA, "x")
		again.Start += time.Hour
		k.Observe(again)
		if e := k.events[1]; e.ForkSeen || e.FirstImage || e.Parent.PID != 0 || k.Counts().Processes != 1 {
			t.Errorf("event %+v", e)
		}
	})
	t.Run("AGT-1 the first image, and who made the process", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		for _, o := range []*agent.Observation{fork(7, 13, 12, inA), run(7, 13, inA, "a"), run(7, 13, inA, "b"), exit(7, 13,
			inA)} {
			k.Observe(o)
		}
		for i, first := range []bool{false, true, false, false} {
			if e := k.events[i]; e.FirstImage != first || !e.ForkSeen || e.Parent.PID != 12 || e.Parent.StartTicks != 1200 {
				t.Errorf("event %d: %+v", i, e)
			}
		}
	})
	t.Run("AGT-1 what ran before is told as found", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		o := run(7, 13, inA, "sh")
		o.Origin, o.Start = agent.OriginWalk, 13*time.Second // as /proc tells it
		k.Observe(o)
		k.Observe(exit(7, 13, inA))
		if e := k.events[0]; e.FirstImage || e.ForkSeen || e.Role != agent.RoleSession || k.Counts().Processes != 0 {
			t.Errorf("event %+v, Counts = %+v", e, k.Counts())
		}
	})
	t.Run("AGT-2 a process that changes its mark is told", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		k.Observe(run(7, 13, inA, "sh"))
		k.Observe(run(8, 13, inA, "sh"))
		k.Left(task(13), booted)
		k.Advance(at(0))
		k.Advance(at(3))
		if !strings.HasPrefix(k.of(), "left") || k.notices[0].SessionID != 7 || k.notices[0].Process.PID != 13 {
			t.Errorf("notices %+v", k.notices)
		}
	})
	t.Run("AGT-3 the container of the record, where that of the cgroup cannot be known", func(t *testing.T) {
		k := track(agent.Options{})
		k.AddRecord(intent("e1", 7, inA))
		o := run(7, 13, inA, "sh")
		o.Cgroup = ""
		k.Observe(o)
		elsewhere := run(7, 14, inB, "sh")
		k.Observe(elsewhere)
		if a, b := k.events[0], k.events[1]; a.ContainerID != inA || a.Pod != "web-0" || b.ContainerID != inB ||
			b.Pod != "" || b.Session == nil {
			t.Errorf("events %+v", k.events)
		}
	})
	t.Run("AGT-6 arguments and environment are nowhere in an event but as the policy has them", func(t *testing.T) {
		k := track(agent.Options{Args: agent.ArgsPolicy{Mode: agent.ArgsOmit}})
		k.AddRecord(intent("e1", 7, inA))
		o := run(7, 13, inA, "sh", "geheim")
		o.Env = redact.NewBytes([]byte("A=geheim\x00"))
		k.Observe(o)
		e := k.events[0]
		if !e.Observation.Args.IsEmpty() || !e.Observation.Env.IsEmpty() || e.Command != "" ||
			strings.Contains(fmt.Sprintf("%+v", e), "geheim") {
			t.Errorf("event %+v", e)
		}
	})
}
