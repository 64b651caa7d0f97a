package agent

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Name is who writes the lines, in their member "agent".
const Name = "execaudit-agent"

var (
	kindNames   = [...]string{"fork", "exec", "exit", "activity"}
	originNames = [...]string{"kernel", "connector", "walk", "unknown"}
	roleNames   = [...]string{"session", "runtime"}
)

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k&3] }

// String returns the origin in lower case.
func (o Origin) String() string { return originNames[o&3] }

// String returns the role in lower case.
func (r Role) String() string { return roleNames[r&1] }

// AppendLine appends the event as one line of JSON, with its newline: version 1 of the format of
// execaudit/attribution/procevents, with these members besides. Those with nothing to say are left out.
//
//   - agent: Name
//   - role: "session", or "runtime" for a process of the runtime's own
//   - origin: "kernel", "connector" or "walk"
//   - cpu, sequence: the kernel's number of the observation, which with the boot ID and the event no other has
//   - again: another agent read it, and may have told it
//   - podUID: the pod's
//   - forkSeen: the process was seen to come to be
//   - innerPID, uid, gid, euid, egid, cgroupID, mountNS, pidNS: as Observation has them
//   - file: the path given to execve
//   - argvCut: there are more arguments
//   - exitCode or signal: how it ended; coreDumped
//   - session: of the node's journal, with auditID, execSession, execID, containerID, sandboxID, namespace, pod, podUID
//     and container
//
// What is not UTF-8 in a text that a process chose is U+FFFD.
func (e *Event) AppendLine(b []byte) []byte {
	o := &e.Observation
	b = append(b, `{"version":1,"event":"`...)
	b = append(b, o.Kind.String()...)
	b = appendTime(append(b, `","time":`...), e.Time)
	b = appendText(b, "node", e.Node)
	b = append(b, `,"agent":"`+Name+`","role":"`...)
	b = append(b, e.Role.String()...)
	b = append(b, `","origin":"`...)
	b = append(append(b, o.Origin.String()...), '"')
	if o.Sequence != 0 {
		b = strconv.AppendInt(appendName(b, "cpu"), int64(o.CPU), 10)
		b = appendNumber(b, "sequence", o.Sequence)
		b = appendTrue(b, "again", o.Again)
	}
	b = appendText(b, "containerID", e.ContainerID)
	b = appendText(b, "namespace", e.Namespace)
	b = appendText(b, "pod", e.Pod)
	b = appendText(b, "podUID", e.PodUID)
	b = appendText(b, "container", e.Container)
	b = appendProcess(b, "process", e.Process)
	b = appendProcess(b, "parent", e.Parent)
	b = appendTrue(b, "parentOutside", e.ParentOutside)
	b = appendTrue(b, "firstImage", e.FirstImage)
	b = appendNumber(b, "imageTicks", e.ImageTicks)
	b = appendTrue(b, "forkSeen", e.ForkSeen)
	b = appendNumber(b, "sessionID", uint64(e.SessionID))
	b = appendNumber(b, "loginUID", uint64(e.LoginUID))
	b = appendNumber(b, "innerPID", uint64(max(o.InnerPID, 0)))
	b = appendCredentials(b, o)
	b = appendNumber(b, "cgroupID", o.CgroupID)
	b = appendNumber(b, "mountNS", uint64(o.MountNS))
	b = appendNumber(b, "pidNS", uint64(o.PIDNS))
	switch o.Kind {
	case KindExec:
		b = e.appendProgram(b)
	case KindExit:
		b = appendStatus(b, o.Status)
	}
	if e.Session != nil {
		b = appendSession(b, e.Session)
	}
	return append(b, '}', '\n')
}

func (e *Event) appendProgram(b []byte) []byte {
	b = appendText(b, "file", e.Observation.File)
	b = appendText(b, "auditID", e.AuditID)
	b = appendText(b, "execSession", e.ExecSession)
	if len(e.Args) > 0 {
		b = append(b, `,"argv":[`...)
		for i, arg := range e.Args {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, arg)
		}
		b = append(b, ']')
	}
	return appendTrue(b, "argvCut", e.Observation.ArgsCut)
}

func appendCredentials(b []byte, o *Observation) []byte {
	for _, c := range [...]struct {
		name string
		id   uint32
	}{{"uid", o.UID}, {"gid", o.GID}, {"euid", o.EUID}, {"egid", o.EGID}} {
		b = strconv.AppendUint(appendName(b, c.name), uint64(c.id), 10)
	}
	return b
}

// appendStatus appends a wait status: in its low seven bits a signal, then whether it dumped core, then an exit code.
func appendStatus(b []byte, status int) []byte {
	if status < 0 {
		return b
	}
	if signal := status & 0x7f; signal != 0 {
		return appendTrue(appendNumber(b, "signal", uint64(signal)), "coreDumped", status&0x80 != 0)
	}
	return strconv.AppendUint(appendName(b, "exitCode"), uint64(status>>8&0xff), 10)
}

func appendSession(b []byte, s *journal.Session) []byte {
	b = append(b, `,"session":{`...)
	start := len(b)
	for _, m := range [...]struct{ name, value string }{
		{"auditID", s.AuditID},
		{"execSession", s.ExecSession},
		{"execID", s.ExecID},
		{"containerID", s.ContainerID},
		{"sandboxID", s.SandboxID},
		{"namespace", s.Namespace},
		{"pod", s.Pod},
		{"podUID", s.PodUID},
		{"container", s.Container},
	} {
		b = appendText(b, m.name, m.value)
	}
	if len(b) > start { // the first member's comma
		b = append(b[:start], b[start+1:]...)
	}
	return append(b, '}')
}

// AppendLine appends the notice as one line of JSON, with its newline: version, notice (its kind), time, node, agent,
// bootID, since, count, reason, sessionID, loginUID, process and containerID. A count of -1 says that it is unknown.
func (n *Notice) AppendLine(b []byte) []byte {
	b = append(b, `{"version":1`...)
	b = appendText(b, "notice", string(n.Kind))
	b = appendTime(appendName(b, "time"), n.Time)
	b = appendText(b, "node", n.Node)
	b = appendText(b, "agent", Name)
	b = appendText(b, "bootID", n.BootID)
	if !n.Since.IsZero() {
		b = appendTime(appendName(b, "since"), n.Since)
	}
	if n.Count != 0 {
		b = strconv.AppendInt(appendName(b, "count"), n.Count, 10)
	}
	b = appendText(b, "reason", n.Reason)
	b = appendNumber(b, "sessionID", uint64(n.SessionID))
	b = appendNumber(b, "loginUID", uint64(n.LoginUID))
	b = appendProcess(b, "process", n.Process)
	b = appendText(b, "containerID", n.ContainerID)
	return append(b, '}', '\n')
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendString(appendName(b, name), value)
}

func appendNumber(b []byte, name string, value uint64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendUint(appendName(b, name), value, 10)
}

func appendTrue(b []byte, name string, value bool) []byte {
	if !value {
		return b
	}
	return append(appendName(b, name), "true"...)
}

func appendTime(b []byte, t time.Time) []byte {
	b = t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano)
	return append(b, '"')
}

func appendProcess(b []byte, name string, p attribution.Process) []byte {
	if p.PID == 0 {
		return b
	}
	b = append(appendName(b, name), `{"pid":`...)
	b = strconv.AppendInt(b, int64(p.PID), 10)
	b = appendNumber(b, "startTicks", p.StartTicks)
	return append(appendText(b, "bootID", p.BootID), '}')
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string. What could end a line or leave a terminal's text is escaped.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if escaped := r < 0xa0 || r == '\u2028' || r == '\u2029' || r == utf8.RuneError && size == 1; !escaped {
			i += size
			continue
		}
		b = append(b, text[start:i]...)
		if r == '"' || r == '\\' {
			b = append(b, '\\', byte(r))
		} else {
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		}
		i += size
		start = i
	}
	return append(append(b, text[start:]...), '"')
}
