// Package tracee reads events from Tracee's JSON output.
//
// Tracee reports the environment only when asked to (--enrichment environment, formerly --output option:exec-env).
// Its hostName is the container's, so the node's name has to come from the reader: attribution.Batch.Node.
package tracee

import (
	"bytes"
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
// A process is identified by processEntityId, which newer versions have. Tracee shows who is the parent now, which
// after an orphan's adoption is not who made it; so it never makes a session's first process, which takes an exec
// journal.
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
	return b.AddEvent(&e.Event)
}

type event struct {
	attribution.Event
	at    int64
	named bool
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
		e.Process.ExecID = entity(c.Int())
	case "parentEntityId":
		e.Parent.ExecID = entity(c.Int())
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

func entity(id int64) string {
	if id == 0 {
		return ""
	}
	return "tracee:" + strconv.FormatInt(id, 36)
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
	for c.Element() {
		if value, ok := bytes.CutPrefix(c.Raw(), []byte(texts.AuditIDName+"=")); ok && e.AuditID == "" {
			e.AuditID = b.Text(value)
		}
	}
}
