// Package falco reads alerts from Falco's JSON output.
//
// A rule has to name the fields that are read here: proc.pid with proc.pid.ts and proc.ppid with proc.ppid.ts for
// process trees, container.id, k8s.ns.name and k8s.pod.name for the place, and proc.env[KUBERNETES_EXEC_AUDIT_ID], or
// proc.aenv[...] for an ancestor's, for the ID, likewise with LANYARD_EXEC_SESSION for a bridge's, and user.loginuid.
// proc.env as a whole is not read: it is joined by spaces, which values may contain too.
package falco

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/intake"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

const (
	ownID      = "proc.env[" + texts.AuditIDName + "]"
	ancestorID = "proc.aenv[" + texts.AuditIDName + "]"

	ownSession      = "proc.env[" + texts.ExecSessionName + "]"
	ancestorSession = "proc.aenv[" + texts.ExecSessionName + "]"
)

// Decode appends the alert of one line to out.Events, when it is about a process. Its kind is KindExec for evt.type
// execve and execveat, KindExit for procexit, else KindActivity.
func Decode(line []byte, out *attribution.Batch) error {
	b := intake.For(out)
	c := scan.New(line)
	if !c.Object() {
		return attribution.ErrMalformed
	}
	a := alert{Event: attribution.Event{Agent: "falco"}}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "hostname":
			a.Node = present(b.Name(c.Raw()))
		case "time":
			a.Time = c.Time()
		case "output_fields":
			a.fields(&c, b)
		default:
			c.Skip()
		}
	}
	if !c.OK() {
		return attribution.ErrMalformed
	}
	if a.Process.PID == 0 {
		b.Ignored.NoProcess++
		return nil
	}
	return a.keep(b)
}

// alert is one alert while it is read.
type alert struct {
	attribution.Event
	eventTime, started, parentStarted int64
	own, ancestor                     texts.Claims
}

func (a *alert) fields(c *scan.Cursor, b *intake.Batch) {
	if !c.Object() {
		return
	}
	for key, more := c.Member(); more; key, more = c.Member() {
		a.field(c, b, key)
	}
}

func (a *alert) field(c *scan.Cursor, b *intake.Batch, key []byte) {
	switch string(key) {
	case "container.id":
		if id := c.Raw(); len(id) >= texts.ContainerIDBytes {
			a.ContainerID = b.Name(id)
		}
	case "container.name":
		c.Skip() // the runtime's name, not the pod's
	case "k8s.ns.name":
		a.Namespace = present(b.Name(c.Raw()))
	case "k8s.pod.name":
		a.Pod = present(b.Name(c.Raw()))
	case "evt.time":
		a.eventTime = number(c)
	case "evt.type":
		a.Kind = kind(c.Raw())
	case "proc.pid":
		a.Process.PID = pid(c)
	case "proc.ppid":
		a.Parent.PID = pid(c)
	case "proc.pid.ts":
		a.started = number(c)
	case "proc.ppid.ts":
		a.parentStarted = number(c)
	case "proc.cmdline":
		a.Command = b.Command(c.Raw())
	case ownID:
		a.own.AuditID = present(b.Text(c.Raw()))
	case ancestorID:
		a.ancestor.AuditID = present(b.Text(c.Raw()))
	case ownSession:
		a.own.ExecSession = present(b.Text(c.Raw()))
	case ancestorSession:
		a.ancestor.ExecSession = present(b.Text(c.Raw()))
	case "user.loginuid":
		a.LoginUID = loginUID(c)
	default:
		c.Skip()
	}
}

// number returns 0 for a text, which Falco prints for what it does not know, and for less than 0, by which it means the
// same.
func number(c *scan.Cursor) int64 {
	if c.Quoted() {
		c.Skip()
		return 0
	}
	return max(c.Int(), 0)
}

// pid returns 0, too, for a number that no process can have.
func pid(c *scan.Cursor) int {
	n := number(c)
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// loginUID returns 0, too, for a number that no user can have.
func loginUID(c *scan.Cursor) uint32 {
	n := number(c)
	if n > math.MaxUint32 {
		return 0
	}
	return texts.IfSet(uint32(n))
}

// present returns "" for Falco's word for nothing.
func present(text string) string {
	if text == "<NA>" {
		return ""
	}
	return text
}

func kind(name []byte) attribution.Kind {
	switch string(name) {
	case "execve", "execveat":
		return attribution.KindExec
	case "procexit":
		return attribution.KindExit
	}
	return attribution.KindActivity
}

func (a *alert) keep(b *intake.Batch) error {
	if a.Time.IsZero() && a.eventTime > 0 {
		a.Time = time.Unix(0, a.eventTime).UTC()
	}
	a.AuditID = cmp.Or(a.own.AuditID, a.ancestor.AuditID)
	a.ExecSession = cmp.Or(a.own.ExecSession, a.ancestor.ExecSession)
	identify(&a.Process, a.started)
	identify(&a.Parent, a.parentStarted)
	return b.AddEvent(&a.Event)
}

// identify makes an ID of the PID and the start in nanoseconds, where the rule printed it.
func identify(p *attribution.Process, started int64) {
	if p.PID > 0 && started > 0 {
		p.ExecID = "falco:" + strconv.Itoa(p.PID) + ":" + strconv.FormatInt(started, 36)
	}
}
