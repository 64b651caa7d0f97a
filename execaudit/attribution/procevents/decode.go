// Package procevents defines and reads a plain format for process events, for readers of the kernel's proc connector
// and others without an agent: JSON lines, one event each.
//
//	{"version":1,"event":"exec","time":"2026-11-21T04:10:00.25Z","node":"n1","containerID":"8762eafc25a3...",
//	 "process":{"pid":4711,"startTicks":123456,"bootID":"..."},"parent":{"pid":4700,"startTicks":123400,"bootID":"..."},
//	 "parentOutside":true,"firstImage":true,"auditID":"f4a3b2c1-...","argv":["sh","-c","id"]}
//
// Required are version, event ("fork", "exec" or "exit"), time (RFC 3339), and process with pid and startTicks (field
// 22 of /proc/PID/stat); also node, unless the reader of the file supplies it: without either, the line is a fault. The
// rest may be absent:
//
//   - containerID: CRI container ID without scheme, from the process's cgroup; absent for the host
//   - namespace, pod, container: Kubernetes names, where the writer knows them
//   - parent: who forked the process, as seen at the fork. Not who adopted it later: a writer that did not see the
//     fork leaves parent out
//   - parentOutside: at the fork, the parent's cgroup was not in the container
//   - firstImage: the writer saw the fork, and no exec since
//   - auditID: KUBERNETES_EXEC_AUDIT_ID in /proc/PID/environ, read right after the exec
//   - execSession: LANYARD_EXEC_SESSION there, which a bridge sets
//   - bootID: /proc/sys/kernel/random/boot_id; in all processes or in none, and as the exec journal has it. Without it a
//     process cannot be told from one of another boot with its number and start: what rests on it is a hint at best, and
//     the sessionID marks nothing
//   - sessionID, loginUID: /proc/PID/sessionid and /proc/PID/loginuid of the process, the kernel's audit session and
//     what was set with it; 4294967295, the kernel's word for none, is the same as absence
//   - argv: the command line
//   - imageTicks: with firstImage, when the image began, in the unit of startTicks
//   - role: "runtime" for a process of the runtime's own, which has a session's mark while it makes the session's first
//     process. Such a line is ignored
//
// Other members are skipped; execaudit/agent, which writes this format, lists those that it adds. A line with the
// member notice in place of event, of what is missing or cannot be seen, is ignored.
//
// parentOutside and firstImage are no evidence of a session: a process of the container can make one with clone(2) and
// CLONE_PARENT. A writer sets them only when it saw it.
package procevents

import (
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/intake"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// Version is the version of the format that Decode reads. Fields may be added without a new one.
const Version = 1

// Decode appends the event of one line to out.Events. A notice, and an event of the runtime's own processes, counts in
// out.Ignored.OtherKinds.
func Decode(line []byte, out *attribution.Batch) error {
	b := intake.For(out)
	c := scan.New(line)
	if !c.Object() {
		return attribution.ErrMalformed
	}
	e := event{Event: attribution.Event{Agent: "procevents"}}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		e.member(&c, b, key)
	}
	if !c.OK() || e.version != Version {
		return attribution.ErrMalformed
	}
	if e.notice && !e.told || e.kind && e.runtime {
		out.Ignored.OtherKinds++
		return nil
	}
	if !e.kind || !e.Process.Identified() {
		return attribution.ErrMalformed
	}
	return b.AddEvent(&e.Event)
}

type event struct {
	attribution.Event
	version int64
	kind    bool
	told    bool // has the member event
	notice  bool
	runtime bool
}

func (e *event) member(c *scan.Cursor, b *intake.Batch, key []byte) {
	switch string(key) {
	case "version":
		e.version = c.Int()
	case "event":
		e.told = true
		e.setKind(c.Raw())
	case "notice":
		e.notice = len(c.Raw()) > 0
	case "role":
		e.runtime = string(c.Raw()) == "runtime"
	case "imageTicks":
		e.ImageTicks = uint64(max(c.Int(), 0))
	case "time":
		e.Time = c.Time()
	case "node":
		e.Node = b.Name(c.Raw())
	case "containerID":
		e.ContainerID = containerID(b, c.Raw())
	case "namespace":
		e.Namespace = b.Name(c.Raw())
	case "pod":
		e.Pod = b.Name(c.Raw())
	case "container":
		e.Container = b.Name(c.Raw())
	case "process":
		e.Process = process(c, b)
	case "parent":
		e.Parent = process(c, b)
	case "parentOutside":
		e.ParentOutside = c.True()
	case "firstImage":
		e.FirstImage = c.True()
	case "sessionID":
		e.SessionID = texts.IfSet(c.Uint32())
	case "loginUID":
		e.LoginUID = texts.IfSet(c.Uint32())
	case "auditID":
		e.AuditID = b.Text(c.Raw())
	case "execSession":
		e.ExecSession = b.Text(c.Raw())
	case "argv":
		e.Command = b.Words(c.Texts())
	default:
		c.Skip()
	}
}

func (e *event) setKind(kind []byte) {
	e.kind = true
	switch string(kind) {
	case "fork":
		e.Kind = attribution.KindFork
	case "exec":
		e.Kind = attribution.KindExec
	case "exit":
		e.Kind = attribution.KindExit
	default:
		e.kind = false
	}
}

func containerID(b *intake.Batch, id []byte) string {
	if len(id) < texts.ContainerIDBytes {
		return ""
	}
	return b.Name(id)
}

func process(c *scan.Cursor, b *intake.Batch) attribution.Process {
	var p attribution.Process
	if !c.Object() {
		return p
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "pid":
			p.PID = c.PID()
		case "startTicks":
			p.StartTicks = uint64(max(c.Int(), 0))
		case "bootID":
			p.BootID = b.Name(c.Raw())
		default:
			c.Skip()
		}
	}
	return p
}
