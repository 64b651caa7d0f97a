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
		Kind: kind, At: task(pid).Start + time.Second, Task: task(pid), SessionID: mark, LoginUID: login, Cgroup: cgroup(in), MountNS: ownNS, Status: -1,
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
	return journal.Session{Node: "n1", ContainerID: container, ExecID: id, AuditID: "audit-" + id, Namespace: "shop", Pod: "web-0", Container: "app"}
}

func intent(id string, mark uint32, container string) *journal.Record {
	r := journal.Marked(journal.Intent(session(id, container), []string{"sh"}, false, booted), journal.Process{BootID: boot, SessionID: mark, LoginUID: login})
	return &r
}

// exec are the observations of a runc exec of one command, as a kernel tells them.
func exec(mark uint32, base int, in string) []*agent.Observation {
	inCgroup := run(mark, base+2, in, "runc", "init")
	inCgroup.MountNS = hostNS
	return []*agent.Observation{
		run(mark, base, "", "runc", "exec"), fork(mark, base+1, base, ""), run(mark, base+1, "", "runc", "init"), fork(mark, base+2, base+1, ""),
		inCgroup, exit(mark, base+1, ""), run(mark, base+2, in, "sh"), fork(mark, base+3, base+2, in), run(mark, base+3, in, "id"),
		exit(mark, base+3, in), exit(mark, base+2, in), exit(mark, base, ""),
	}
}

func TestTracker(t *testing.T) {
	t.Run("AGT-1 a session begins with its first program in the container; what is older is the runtime's", func(t *testing.T) {
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
		if e.Session == nil || e.Session.AuditID != "audit-e1" || e.ContainerID != inA || e.Pod != "web-0" || e.Process.BootID != boot || e.Process.StartTicks != 1200 {
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
		if k.of() != "forged" || k.notices[0].Process.PID != 20 || k.notices[0].ContainerID != inB || k.notices[0].SessionID != 9 {
			t.Errorf("notices %+v", k.notices)
		}
		if len(k.events) != 3 || k.events[0].Session != nil || k.events[0].Role != agent.RoleSession {
			t.Errorf("events %+v", k.events)
		}
	})
}
