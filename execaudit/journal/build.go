package journal

import "time"

// Bounds of what a record keeps of text that a caller chose. What is longer is
// cut, since it must not keep a session out of the journal.
const (
	// MaxArgs is the most arguments of a command line.
	MaxArgs = 4096
	// MaxArgvBytes is the most bytes over all arguments.
	MaxArgvBytes = 64 << 10 // 64 KiB
	// MaxTextBytes is the most bytes of an audit ID, of an exec session's ID and
	// of a reason. An ID that was cut names no audit event.
	MaxTextBytes = 1 << 10 // 1 KiB
)

// Intent returns the record to append before a session's process is started.
// What argv has beyond MaxArgs or MaxArgvBytes is left out and marked. argv is
// not aliased.
func Intent(session Session, argv []string, tty bool, at time.Time) Record {
	r := record(KindIntent, session, at)
	r.TTY = tty
	r.Argv, r.ArgvTruncated = bounded(argv)
	return r
}

// Marked returns the intent with the mark that the kernel gave before the process is started, so that the session's
// processes are found even where its start was not seen. Of mark it takes BootID, SessionID and LoginUID.
func Marked(intent Record, mark Process) Record {
	mark = marked(mark)
	intent.BootID, intent.SessionID, intent.LoginUID = mark.BootID, mark.SessionID, mark.LoginUID
	return intent
}

// Start returns the record to append once the process has started.
func Start(session Session, process Process, at time.Time) Record {
	r := record(KindStart, session, at)
	r.Process = marked(process)
	return r
}

// End returns the record to append when the process has ended with an exit code. at is when that was seen, taken before
// the process was reaped (waitid with WNOWAIT, the time, then wait): KindEnd says why. A writer that was too late for it
// sets the record's Reason.
func End(session Session, process Process, exitCode int, at time.Time) Record {
	r := record(KindEnd, session, at)
	r.Process = marked(process)
	r.ExitCode = &exitCode
	return r
}

// Lost returns the end of a session whose exit code is not known: the process
// could not be started (its Process is then zero), or the runtime restarted
// while it ran. reason says which, in the runtime's words. at is when that was found.
func Lost(session Session, process Process, reason string, at time.Time) Record {
	r := record(KindEnd, session, at)
	r.Process = marked(process)
	r.Reason = cut(reason)
	return r
}

// Refused returns the record of a session that was asked for on the node and refused there, and so never started.
// reason says why, and is not empty. argv is bounded as in Intent.
func Refused(session Session, reason string, argv []string, tty bool, at time.Time) Record {
	r := record(KindRefusal, session, at)
	r.Reason, r.TTY = cut(reason), tty
	r.Argv, r.ArgvTruncated = bounded(argv)
	return r
}

func record(kind Kind, session Session, at time.Time) Record {
	session.AuditID, session.ExecSession = cut(session.AuditID), cut(session.ExecSession)
	return Record{Version: Version, Kind: kind, Time: at.UTC().Round(0), Session: session}
}

// marked returns the process without a mark that marks nothing.
func marked(p Process) Process {
	if p.SessionID == SessionIDUnset {
		p.SessionID = 0
	}
	if p.LoginUID == LoginUIDUnset {
		p.LoginUID = 0
	}
	return p
}

// bounded copies argv up to the bounds; the argument that crosses MaxArgvBytes is cut.
func bounded(argv []string) (kept []string, truncated bool) {
	room := MaxArgvBytes
	for i, arg := range argv {
		if i == MaxArgs {
			return kept, true
		}
		if len(arg) > room {
			return append(kept, arg[:room]), true
		}
		kept = append(kept, arg)
		room -= len(arg)
	}
	return kept, false
}

func cut(text string) string {
	return text[:min(len(text), MaxTextBytes)]
}
