package agent

import (
	"container/list"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// markKey is an audit session of the kernel's and the login UID that was set with it. The kernel counts the sessions
// with 32 bits, so that one number can come twice in a boot, though not soon.
type markKey struct{ session, login uint32 }

// mark is one of the kernel's audit sessions of this boot.
type mark struct {
	markKey
	// record is the session of the journal that has it; nil for none.
	record *journal.Session
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
	// first is the session's first process, once it has begun; sure says that it is known to be, and not the first of
	// which something was seen. recorded is that of the start record.
	recorded    Task
	runtimeSeen bool
	begun, sure bool
	first       Task
	began       time.Time

	epoch   int // in which it was made
	live    int // processes
	ended   bool
	command string    // the newest
	last    time.Time // of an event
	touched time.Time // when something came of it
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

// begin decides whether the session begins with o: with the first program that does not run where the runtime does. The
// runtime's own programs, of which runc's run in the container's cgroup already, are in the runtime's mount namespace;
// the container's are in its own. Where namespaces are not known, it is the first program in the container's cgroup, or
// in one that is not known. The process that the journal says was started first is one that is not the runtime's.
func (t *Tracker) begin(m *mark, o *Observation, c Container, at time.Time) {
	if m.runtimeNS == 0 {
		m.runtimeNS = t.options.MountNS
		if o.MountNS != 0 && o.Origin != OriginWalk && c.Known && c.ID == "" {
			m.runtimeNS = o.MountNS
		}
	}
	switch first := m.recorded; {
	case m.begun:
		if o.Kind == KindExec && first.PID == 0 && before(o.Start, m.first.Start) && m.starts(o, c) {
			m.first = o.Task // the exec that it began with was lost
		}
	case first.PID > 0 && (o.Task.same(first) && o.Kind == KindExec || before(first.Start, o.Start)):
		m.begun, m.sure, m.first, m.began = true, true, first, at
	case o.Kind == KindExec && m.starts(o, c):
		m.begun, m.first, m.began = true, o.Task, at
		m.sure = m.runtimeSeen && m.epoch == t.current || m.recorded.same(o.Task)
	default:
		m.runtimeSeen = true
	}
}

func (m *mark) starts(o *Observation, c Container) bool {
	if o.MountNS != 0 && m.runtimeNS != 0 {
		return m.elsewhere(o)
	}
	return !c.Known || m.of(c)
}

// elsewhere reports whether a process is known not to be where the runtime is.
func (m *mark) elsewhere(o *Observation) bool {
	return o.MountNS != 0 && m.runtimeNS != 0 && o.MountNS != m.runtimeNS
}

// start notes the process of the start record.
func (m *mark) start(first Task) {
	m.recorded = first
	if m.begun && !m.first.same(first) {
		m.first = first
	}
	m.sure = m.begun
}

// inside reports whether a process is in the session's container, by its cgroup and by its mounts.
func (m *mark) inside(o *Observation, c Container) bool {
	return m.elsewhere(o) && m.of(c)
}

// of reports whether a container may be the session's.
func (m *mark) of(c Container) bool {
	if c.ID == "" || m.record == nil || len(m.record.ContainerID) < containerIDBytes {
		return c.ID != ""
	}
	return sameContainer(c.ID, m.record.ContainerID)
}

// role says whose a process of the mark is. What started before the session's first process does not come from it. What
// started later is taken for the session's, also where nobody saw it come to be; and so is everything where something
// was lost, so that nobody knows which process was the first, and what goes on when the first process is gone.
func (t *Tracker) role(m *mark, o *Observation, c Container) Role {
	p := t.processes[o.PID]
	known := p != nil && p.task.same(o.Task) && p.mark == m && o.Kind != KindFork
	switch {
	case m.record == nil: // nothing says that a runtime is at work
		return RoleSession
	case o.Kind == KindExec && m.starts(o, c), m.begun && m.elsewhere(o):
		return RoleSession
	case m.begun && m.sure && o.Start != 0 && before(o.Start, m.first.Start):
		return RoleRuntime
	case known && o.Kind == KindExit && p.role == RoleRuntime && p.epoch == t.current:
		return RoleRuntime
	case m.begun, m.ended, m.epoch != t.current:
		return RoleSession
	case known:
		return p.role
	case m.inside(o, c):
		return RoleSession
	}
	return RoleRuntime
}

func (t *Tracker) process(p Task) attribution.Process {
	if p.PID == 0 {
		return attribution.Process{}
	}
	return attribution.Process{PID: p.PID, StartTicks: ticks(p.Start), BootID: t.options.BootID}
}
