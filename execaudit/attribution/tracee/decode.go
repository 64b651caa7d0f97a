// Package tracee reads events from Tracee's JSON output.
//
// Tracee reports the environment only when asked to (--enrichment environment, formerly --output option:exec-env).
// Its hostName is the container's, so the node's name has to come from the reader: attribution.Batch.Node.
package tracee

import (
	"strconv"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/intake"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// Decode appends the event of one line to out.Events. Its kind is KindExec for execve, execveat and
// sched_process_exec, KindExit for sched_process_exit, else KindActivity.
//
// A process is identified by its PID with processEntityId, which newer versions have: Tracee's hash, of 32 bits, of the
// PID and the time of the start. That is not certain: beside collisions, Tracee rounds the time, to a tenth of a second
// in its newest version, and a PID can be used again within it. threadStartTime is finer, but that of the thread that
// the event is about, and no event has the parent's. So what rests on Tracee's trees is a hint at best. Tracee shows who
// is the parent now, which after an orphan's adoption is not who made it.
func Decode(line []byte, out *attribution.Batch) error {
	b := intake.For(out)
	c := scan.New(line)
	if !c.Object() {
		return attribution.ErrMalformed
	}
	e := event{Event: attribution.Event{Agent: "tracee"}}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		e.member(&c, b, key)
	}
	if !c.OK() {
		return attribution.ErrMalformed
	}
	if !e.named {
		b.Ignored.NoProcess++
		return nil
	}
	if e.at <= 0 || e.Process.PID == 0 {
		return attribution.ErrMalformed
	}
	e.Time = time.Unix(0, e.at).UTC()
	identify(&e.Process, e.id)
	identify(&e.Parent, e.above)
	return b.AddEvent(&e.Event)
}

type event struct {
	attribution.Event
	at        int64
	id, above int64
	named     bool
}

func (e *event) member(c *scan.Cursor, b *intake.Batch, key []byte) {
	switch string(key) {
	case "timestamp":
		e.at = c.Int()
	case "hostProcessId":
		e.Process.PID = c.PID()
	case "hostParentProcessId":
		e.Parent.PID = c.PID()
	case "processEntityId":
		e.id = c.Int()
	case "parentEntityId":
		e.above = c.Int()
	case "containerId":
		e.setContainer(b, c.Raw())
	case "container":
		e.container(c, b)
	case "kubernetes":
		e.pod(c, b)
	case "podName":
		e.Pod = b.Name(c.Raw())
	case "podNamespace":
		e.Namespace = b.Name(c.Raw())
	case "eventName":
		e.named = true
		e.Kind = kind(c.Raw())
	case "args":
		e.args(c, b)
	default:
		c.Skip()
	}
}

// entityBits is the width of Tracee's entity IDs.
const entityBits = 32

// identify makes an ID of the PID and the entity ID, where both are known.
func identify(p *attribution.Process, entity int64) {
	if p.PID > 0 && entity != 0 {
		p.ExecID, p.ExecIDBits = "tracee:"+strconv.Itoa(p.PID)+":"+strconv.FormatInt(entity, 36), entityBits
	}
}

func kind(name []byte) attribution.Kind {
	switch string(name) {
	case "execve", "execveat", "sched_process_exec":
		return attribution.KindExec
	case "sched_process_exit":
		return attribution.KindExit
	}
	return attribution.KindActivity
}

func (e *event) setContainer(b *intake.Batch, id []byte) {
	if len(id) >= texts.ContainerIDBytes {
		e.ContainerID = b.Name(id)
	}
}

// container reads the nested form of newer versions.
func (e *event) container(c *scan.Cursor, b *intake.Batch) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		if string(key) == "id" {
			e.setContainer(b, c.Raw())
			continue
		}
		c.Skip()
	}
}

func (e *event) pod(c *scan.Cursor, b *intake.Batch) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "podName":
			e.Pod = b.Name(c.Raw())
		case "podNamespace":
			e.Namespace = b.Name(c.Raw())
		default:
			c.Skip()
		}
	}
}

func (e *event) args(c *scan.Cursor, b *intake.Batch) {
	if !c.Array() {
		return
	}
	for c.Element() {
		if c.Object() {
			e.arg(c, b)
		}
	}
}

// arg reads one argument. Tracee writes the name before the value.
func (e *event) arg(c *scan.Cursor, b *intake.Batch) {
	var name []byte
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch {
		case string(key) == "name":
			name = c.Raw()
		case string(key) != "value":
			c.Skip()
		case string(name) == "argv":
			e.Command = b.Words(c.Texts())
		case string(name) == "envp", string(name) == "env":
			e.environment(c, b)
		default:
			c.Skip()
		}
	}
}

// environment reads one variable after the other, because a process may have very many.
func (e *event) environment(c *scan.Cursor, b *intake.Batch) {
	if !c.Array() {
		return
	}
	claims := texts.Claims{AuditID: e.AuditID, ExecSession: e.ExecSession}
	for c.Element() {
		claims.TakeEntry(&b.Store, c.Raw())
	}
	e.AuditID, e.ExecSession = claims.AuditID, claims.ExecSession
}
