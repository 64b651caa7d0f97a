package agent

import (
	"container/list"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// mark is one of the kernel's audit sessions of this boot.
type mark struct {
	id, login uint32
	// session is the record that has it; nil for none.
	session *journal.Session
	// conflict says that two records have it.
	conflict bool
	// place is the mark's in the list that it is in.
	place *list.Element

	// held are the observations that wait for a record, since then; released says that they do not wait any more.
	held     []held
	waiting  bool
	since    time.Time
	released bool
	forged   bool

	// named is the first process that had the mark, and where it was.
	named   Task
	namedIn string

	// runtimeNS is the mount namespace of the first process that had the mark, which is the runtime's.
	runtimeNS uint32
	// first is the session's first process: by a start record, or the first that ran a program in a container, which is
	// begunIn ("" for unknown).
	recorded Task
	begun    bool
	first    Task
	begunIn  string
	began    time.Time

	live    int // processes
	ended   bool
	command string // the newest
	last    time.Time
}

// sameContainer compares container IDs, of which one may be cut.
func sameContainer(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= containerIDBytes && strings.HasPrefix(b, a)
}

// containerIDBytes is how much of a container ID tells it from others.
const containerIDBytes = 12

// tick is the unit in which /proc tells when a process started.
const tick = 10 * time.Millisecond

func ticks(start time.Duration) uint64 { return uint64(max(start, 0) / tick) }

// same reports whether both are one process, of which one may be known from /proc.
func (a Task) same(b Task) bool { return a.PID == b.PID && ticks(a.Start) == ticks(b.Start) }

// before compares two starts as exactly as both are known.
func before(a, b time.Duration) bool {
	if a%tick == 0 || b%tick == 0 {
		a, b = a/tick, b/tick
	}
	return a < b
}

// begin decides whether the session begins with o: with the start record's process, or with the first program that
// runs in the session's container and not where the runtime is. The runtime's own are in the container's cgroup before
// it, but in the runtime's mount namespace.
func (m *mark) begin(o *Observation, c Container, hostNS uint32, at time.Time) {
	if m.runtimeNS == 0 {
		m.runtimeNS = hostNS
		if o.MountNS != 0 && o.Origin != OriginWalk && c.Known && c.ID == "" {
			m.runtimeNS = o.MountNS
		}
	}
	if m.begun || o.Kind != KindExec || !m.starts(o, c) {
		return
	}
	m.begun, m.first, m.begunIn, m.began = true, o.Task, c.ID, at
}

func (m *mark) starts(o *Observation, c Container) bool {
	if m.recorded.PID > 0 && m.recorded.same(o.Task) {
		return true
	}
	if o.MountNS != 0 && m.runtimeNS != 0 && o.MountNS == m.runtimeNS {
		return false
	}
	switch {
	case !c.Known:
		return true
	case c.ID == "":
		return false
	}
	return m.session == nil || len(m.session.ContainerID) < containerIDBytes || sameContainer(c.ID, m.session.ContainerID)
}

// role says whose a process of the mark is. What started before the session's first process does not come from it. What
// started later is taken for the session's, also where nobody saw it come to be.
func (m *mark) role(p Task) Role {
	switch {
	case m.session == nil: // nothing says that a runtime is at work
		return RoleSession
	case !m.begun, p.Start != 0 && before(p.Start, m.first.Start):
		return RoleRuntime
	}
	return RoleSession
}

func (t *Tracker) process(p Task) attribution.Process {
	if p.PID == 0 {
		return attribution.Process{}
	}
	return attribution.Process{PID: p.PID, StartTicks: ticks(p.Start), BootID: t.options.BootID}
}
