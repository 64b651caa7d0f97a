//go:build linux

package node

import (
	"cmp"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// key tells one session from all others, in the spool and in the journal.
type key struct {
	container, exec, session, boot string
	mark                           uint32
}

func keyOf(s journal.Session, mark journal.Process) key {
	return key{s.ContainerID, s.ExecID, s.ExecSession, mark.BootID, mark.SessionID}
}

// step is one of a session's records.
type step int

const (
	stepIntent step = iota
	stepStart
	stepEnd
	steps
)

func stepOf(kind journal.Kind) (step, bool) {
	switch kind {
	case journal.KindIntent:
		return stepIntent, true
	case journal.KindStart:
		return stepStart, true
	case journal.KindEnd:
		return stepEnd, true
	}
	return 0, false
}

// written says which of a session's records the journal has on disk.
type written [steps]bool

// entry is a session that has not ended, or whose records are not all where they belong.
type entry struct {
	key
	session journal.Session
	process journal.Process // the mark, and the first process once it is known
	owed    [steps]*journal.Record
	wrote   written
	ended   bool
	queued  bool // for the journal

	inSpool bool // its file there is not done
	nonce   [16]byte
	pidFile string

	follow following
}

// following is how far the search for the first process is.
type following struct {
	watched   bool      // the first process's end will be told
	candidate int       // the PID of a process that may be the first
	looks     int       // while the runtime is at work
	nothing   bool      // the last look showed neither
	next      time.Time // of the next look; zero is none
}

// newEntry returns the session of a record in the spool.
func newEntry(r spool.Record) *entry {
	e := &entry{session: sessionOf(r.Where), inSpool: true, nonce: r.Nonce, pidFile: r.Where.PIDFile}
	e.session.AuditID, e.session.ExecSession = r.AuditID, r.Session.String()
	e.process.BootID = r.BootID
	if r.Mark == spool.MarkSet {
		e.process.SessionID, e.process.LoginUID = r.SessionID, r.LoginUID
	}
	intent := journal.Marked(journal.Intent(e.session, r.Argv, r.TTY, r.Time), e.process)
	intent.ArgvTruncated = intent.ArgvTruncated || r.ArgvTruncated
	e.owe(stepIntent, intent)
	e.key = keyOf(e.session, e.process)
	return e
}

// unknown stands in a record for what the wrapper could not read.
const unknown = "unknown"

func sessionOf(w spool.Where) journal.Session {
	return journal.Session{
		Node: cmp.Or(w.Node, unknown), ContainerID: cmp.Or(w.ContainerID, unknown), ExecID: cmp.Or(w.ExecID, unknown),
		Namespace: w.Namespace, Pod: w.Pod, PodUID: w.PodUID, Container: w.Container,
	}
}

// resumed returns the session of a record in the journal.
func resumed(r journal.Record) *entry {
	s := r.Session
	for _, text := range []*string{
		&s.Node, &s.ContainerID, &s.ExecID, &s.AuditID, &s.ExecSession, &s.SandboxID, &s.Namespace, &s.Pod, &s.PodUID, &s.Container,
	} {
		*text = strings.Clone(*text) // the decoder's texts keep others in memory
	}
	e := &entry{session: s, process: r.Process}
	e.process.BootID = strings.Clone(e.process.BootID)
	e.key = keyOf(s, e.process)
	return e
}

func (e *entry) owe(s step, r journal.Record) { e.owed[s] = &r }

// owes reports whether a record of the session is not in the journal.
func (e *entry) owes() bool {
	for s := range e.owed {
		if e.owed[s] != nil && !e.wrote[s] {
			return true
		}
	}
	return false
}

// start notes the first process.
func (e *entry) start(pid int, startTicks uint64, at time.Time) {
	e.process.PID, e.process.StartTicks = pid, startTicks
	e.owe(stepStart, journal.Start(e.session, e.process, at))
}

// end notes the end of the first process; a nil code is one that is not known. A reason says why it is not, or that at
// is later than the exit.
func (e *entry) end(code *int, reason string, at time.Time) {
	r := journal.Lost(e.session, e.process, reason, at)
	r.ExitCode = code
	e.owe(stepEnd, r)
	e.ended, e.follow.next = true, time.Time{}
}

// over reports whether nothing is left to do.
func (e *entry) over() bool { return e.ended && !e.inSpool && !e.owes() }
