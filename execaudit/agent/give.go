package agent

import (
	"cmp"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/redact"
)

// give hands out the event of an observation.
func (t *Tracker) give(m *mark, o *Observation, c Container, epoch int) {
	t.current = epoch
	at := t.at(o)
	e := &t.given
	args := e.Args[:0]
	*e = Event{Observation: *o, Args: args, PodUID: c.PodUID}
	e.Observation.Args, e.Observation.Env = redact.Bytes{}, redact.Bytes{}
	e.Event = attribution.Event{
		Time: at, Kind: kinds[o.Kind&3], Agent: "procevents", Node: t.options.Node, ContainerID: c.ID, Namespace: c.Namespace,
		Pod: c.Pod, Container: c.Name, Process: t.process(o.Task), SessionID: o.SessionID, LoginUID: o.LoginUID,
	}
	if m != nil {
		t.join(m, e, c)
	}
	if o.Kind == KindExec {
		t.program(e, o)
	}
	t.follow(m, e, c)
	t.counts.Events++
	switch {
	case e.Role == RoleRuntime:
		t.counts.Runtime++
	case e.Session == nil && t.inRange(o.LoginUID):
		t.counts.Unjoined++
	}
	if m != nil && o.Kind == KindExec && e.Role == RoleSession {
		text := cmp.Or(e.Command, o.File)
		m.command = strings.ToValidUTF8(strings.Clone(text[:min(len(text), maxNewestBytes)]), "")
	}
	t.event(e)
}

var kinds = [...]attribution.Kind{
	attribution.KindFork, attribution.KindExec, attribution.KindExit,
	attribution.KindActivity,
}

// join puts the session beside the event.
func (t *Tracker) join(m *mark, e *Event, c Container) {
	m.last = later(m.last, e.Time)
	t.begin(m, &e.Observation, c, e.Time)
	if m.record == nil || m.conflict {
		return
	}
	e.Session, e.Role = m.record, t.role(m, &e.Observation, c)
	if e.ContainerID == "" && !c.Known && e.Role == RoleSession && len(e.Session.ContainerID) >= containerIDBytes {
		e.ContainerID = e.Session.ContainerID
	}
	if sameContainer(e.ContainerID, e.Session.ContainerID) {
		e.Namespace, e.Pod = cmp.Or(e.Session.Namespace, e.Namespace), cmp.Or(e.Session.Pod, e.Pod)
		e.Container = cmp.Or(e.Session.Container, e.Container)
		e.PodUID = cmp.Or(e.PodUID, e.Session.PodUID)
	}
}

// program reads an exec's arguments and what its environment claims.
func (t *Tracker) program(e *Event, o *Observation) {
	e.AuditID, e.ExecSession = claims(o.Env.Reveal())
	e.Args = t.options.Args.append(e.Args, o.Args.Reveal(), o.ArgsCut)
	e.Command = command(e.Args)
}

// maxNewestBytes is how much of a session's newest command is kept.
const maxNewestBytes = 256

// maxCommandBytes is how much of a command line procevents.Decode takes.
const maxCommandBytes = 4 << 10

func command(args []string) string {
	line := strings.Join(args, " ")
	return line[:min(len(line), maxCommandBytes)]
}
