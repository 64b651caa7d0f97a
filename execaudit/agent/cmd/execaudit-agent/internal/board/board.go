package board

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// maxReasons bounds the reasons that are told apart.
const maxReasons = 16

// otherReason stands for the reasons beyond maxReasons.
const otherReason = "other"

// Output is where lines are written.
type Output interface {
	// Append writes lines, each with its end.
	Append(lines []byte) error
	// Rotated returns why the file could not be rotated, nil when it could.
	Rotated() error
	Close() error
}

// Options tune a Board.
type Options struct {
	// Status has what does not change: node, version, boot ID, start, paths.
	Status Status
	// Live adds what only the source knows: what it sees by, what waits, the journal; nil adds nothing.
	Live func(*Status)
	// Sessions returns those that have live processes; nil has none.
	Sessions func() []agent.SessionState
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Board writes events and notices as lines to an output, and tells what they come to. Write and Close are for one
// goroutine, all else for any.
type Board struct {
	options Options
	output  Output
	lines   []byte

	mu     sync.Mutex
	status Status
}

// New returns a board for the output.
func New(output Output, o Options) *Board {
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &Board{options: o, output: output, status: o.Status}
	b.status.Events, b.status.Notices, b.status.Lost = map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	return b
}

// Live sets Options.Live and Options.Sessions: the source is made with the board, and known after it.
func (b *Board) Live(live func(*Status), sessions func() []agent.SessionState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.options.Live, b.options.Sessions = live, sessions
}

// keptLines is the size of a buffer that is kept for the next lines.
const keptLines = 1 << 20 // 1 MiB

// Write writes the lines, and counts what was written. Its error is the output's.
func (b *Board) Write(events []*agent.Event, notices []*agent.Notice) error {
	lines := b.lines[:0]
	for _, e := range events {
		lines = e.AppendLine(lines)
	}
	for _, n := range notices {
		lines = n.AppendLine(lines)
	}
	err := b.output.Append(lines)
	if b.lines = lines; cap(lines) > keptLines {
		b.lines = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status.OutputError, b.status.RotationError = text(err), text(b.output.Rotated())
	if err != nil {
		return err
	}
	for _, e := range events {
		b.status.Events[e.Observation.Kind.String()]++
		if e.Role == agent.RoleRuntime {
			b.status.Runtime++
		}
	}
	for _, n := range notices {
		b.notice(n)
	}
	return nil
}

// Close closes the output.
func (b *Board) Close() error { return b.output.Close() }

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (b *Board) notice(n *agent.Notice) {
	b.status.Notices[string(n.Kind)]++
	if n.Kind == agent.NoticeLost {
		at := n.Time
		b.status.LastGap = &at
		b.status.Lost[b.reason(n.Reason)] += uint64(max(n.Count, 0))
	}
}

// reason bounds how many there are.
func (b *Board) reason(text string) string {
	if _, known := b.status.Lost[text]; !known && len(b.status.Lost) >= maxReasons {
		return otherReason
	}
	return strings.Clone(text)
}

// Status returns the agent's status as it is now.
func (b *Board) Status() Status {
	b.mu.Lock()
	s, live := b.status, b.options.Live
	s.Events, s.Notices, s.Lost = maps.Clone(s.Events), maps.Clone(s.Notices), maps.Clone(s.Lost)
	b.mu.Unlock()
	if live != nil {
		live(&s)
	}
	return s
}

// Snapshot returns the node as it is now.
func (b *Board) Snapshot() Snapshot {
	out := Snapshot{Time: b.options.Now(), Status: b.Status(), Sessions: []Session{}}
	b.mu.Lock()
	sessions := b.options.Sessions
	b.mu.Unlock()
	if sessions == nil {
		return out
	}
	for _, s := range sessions() {
		out.Sessions = append(out.Sessions, session(s))
	}
	slices.SortFunc(out.Sessions, func(a, b Session) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.SessionID, b.SessionID))
	})
	return out
}

func session(s agent.SessionState) Session {
	out := Session{
		SessionID: s.SessionID, LoginUID: s.LoginUID, Since: s.Began, PID: s.Process.PID, Processes: s.Processes,
		Command: s.Command, Last: s.Last,
	}
	if j := s.Session; j != nil {
		out.Known = true
		out.ExecSession, out.AuditID = j.ExecSession, j.AuditID
		out.Namespace, out.Pod, out.Container, out.ContainerID = j.Namespace, j.Pod, j.Container, j.ContainerID
	}
	return out
}
