package agent

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
)

// process is what is known of a live one that has a mark.
type process struct {
	task   Task
	mark   *mark
	parent Task
	in     Container // as of the last observation
	role   Role      // too
	// parentIn is where the parent was, if parentRuntime says that it was a process of the runtime's.
	parentIn      Container
	parentRuntime bool
	// seen says that its fork was, in that epoch; images counts the programs since.
	seen   bool
	epoch  int
	images int
}

// follow notes what the event tells of its process, and completes it with what was known before.
func (t *Tracker) follow(m *mark, e *Event, c Container) {
	o := &e.Observation
	p := t.processes[o.PID]
	if p != nil && !p.task.same(o.Task) { // its end was missed
		t.end(p)
		p = nil
	}
	if p != nil && p.mark != m && o.Kind != KindFork {
		t.leave(p, m, e)
	}
	switch {
	case o.Kind == KindExit && p == nil:
		e.Parent = t.process(o.Parent)
		return
	case p == nil || o.Kind == KindFork:
		if p != nil {
			t.end(p)
		}
		p = t.born(m, o)
	}
	if o.Parent.PID != 0 {
		p.parent = o.Parent
	}
	p.in, p.role = c, e.Role
	e.Parent = t.process(p.parent)
	e.ForkSeen = p.seen && p.epoch == t.current
	e.ParentOutside = p.parentRuntime && p.parentIn.Known && c.ID != "" && p.parentIn.ID != c.ID
	switch o.Kind {
	case KindExec:
		if p.images == 0 && e.ForkSeen && o.Origin != OriginWalk {
			e.FirstImage, e.ImageTicks = true, ticks(o.At)
		}
		p.images++
	case KindExit:
		t.end(p)
	}
}

// born enters a process.
func (t *Tracker) born(m *mark, o *Observation) *process {
	if len(t.processes) >= t.options.MaxProcesses {
		for _, victim := range t.processes { // any
			t.counts.EvictedProcesses++
			t.end(victim)
			break
		}
	}
	p := &process{task: o.Task, mark: m, seen: o.Kind == KindFork && o.Origin != OriginWalk, epoch: t.current}
	if mother := t.processes[o.Parent.PID]; mother != nil && mother.task.same(o.Parent) && mother.mark != nil {
		p.parentIn, p.parentRuntime = mother.in, mother.role == RoleRuntime
	}
	t.processes[o.PID] = p
	if m != nil {
		m.live++
	}
	return p
}

func (t *Tracker) end(p *process) {
	delete(t.processes, p.task.PID)
	if p.mark != nil {
		p.mark.live--
	}
}

// leave tells that a process has changed its mark.
func (t *Tracker) leave(p *process, m *mark, e *Event) {
	if p.mark != nil {
		p.mark.live--
		t.depart(p, e.Time, "the process has another mark than it had")
	}
	if p.mark = m; m != nil {
		m.live++
	}
}

// Live is a process that is known to be alive, with its mark.
type Live struct {
	Task
	SessionID, LoginUID uint32
}

// Processes returns the marked processes that are known to be alive, sorted by PID.
func (t *Tracker) Processes() []Live {
	all := make([]Live, 0, len(t.processes))
	for _, p := range t.processes {
		if p.mark != nil {
			all = append(all, Live{p.task, p.mark.session, p.mark.login})
		}
	}
	slices.SortFunc(all, func(a, b Live) int { return cmp.Compare(a.PID, b.PID) })
	return all
}

// Gone tells that a process is no more, though its exit was not observed.
func (t *Tracker) Gone(task Task) {
	if p := t.processes[task.PID]; p != nil && p.task.same(task) {
		t.end(p)
	}
}

// Left tells that a process has a mark outside the range now, so that nothing is told of it any more.
func (t *Tracker) Left(task Task, now time.Time) {
	p := t.processes[task.PID]
	if p == nil || !p.task.same(task) || p.mark == nil {
		return
	}
	t.depart(p, now, "the process has left the marks that are watched")
	t.end(p)
}

func (t *Tracker) depart(p *process, at time.Time, reason string) {
	t.tell(&Notice{
		Kind: NoticeLeft, Time: at, SessionID: p.mark.session, LoginUID: p.mark.login, Process: t.process(p.task),
		ContainerID: p.in.ID, Reason: reason,
	})
}

// The variables that carry a session's ID (KEP-6035; execaudit/bridge).
const (
	auditIDName     = "KUBERNETES_EXEC_AUDIT_ID"
	execSessionName = "LANYARD_EXEC_SESSION"
	// maxClaimBytes is the longest ID that is taken.
	maxClaimBytes = 1 << 10
)

// claims returns the session's IDs in an environment, "" for none. Of a variable that is there twice, the first counts,
// as for getenv. One that was cut is not taken.
func claims(env []byte) (auditID, execSession string) {
	return claim(env, auditIDName), claim(env, execSessionName)
}

func claim(env []byte, name string) string {
	for len(env) > 0 {
		entry, rest, whole := bytes.Cut(env, []byte{0})
		if !whole {
			return ""
		}
		if len(entry) > len(name) && entry[len(name)] == '=' && string(entry[:len(name)]) == name {
			value := entry[len(name)+1:]
			if len(value) > maxClaimBytes {
				return ""
			}
			return strings.ToValidUTF8(string(value), "\uFFFD")
		}
		env = rest
	}
	return ""
}
