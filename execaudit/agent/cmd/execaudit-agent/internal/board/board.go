package board

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// Bounds of what a board keeps.
const (
	DefaultMaxSessions  = 10_000
	DefaultMaxProcesses = 65_536
	maxCommandBytes     = 512
	maxReasons          = 16
)

// otherReason stands for the reasons beyond maxReasons.
const otherReason = "other"

// Options tune a Board.
type Options struct {
	// Status has what does not change: node, version, boot ID, start, paths.
	Status Status
	// Live adds what only the source knows: mode, blindness, what waits, the ring; nil adds nothing.
	Live func(*Status)
	// MaxSessions and MaxProcesses bound what is kept; 0 means the defaults.
	MaxSessions, MaxProcesses int
	// Alive reports whether the process is still there. It is asked after events were lost; nil is always yes.
	Alive func(attribution.Process) bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Board takes in events and notices as they are written, and tells what they come to. It is safe for concurrent use.
type Board struct {
	options Options

	mu        sync.Mutex
	status    Status
	sessions  map[uint32]*entry
	processes int
	unlisted  uint64
	doubtful  bool // an exit may have been missed
}

// entry is a session, and its processes by PID.
type entry struct {
	Session
	alive map[int]attribution.Process
}

// New returns an empty board.
func New(o Options) *Board {
	o.MaxSessions = cmp.Or(o.MaxSessions, DefaultMaxSessions)
	o.MaxProcesses = cmp.Or(o.MaxProcesses, DefaultMaxProcesses)
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &Board{options: o, status: o.Status, sessions: map[uint32]*entry{}}
	b.status.Events, b.status.Lost = map[string]uint64{}, map[string]uint64{}
	return b
}

// Write takes in what was written.
func (b *Board) Write(events []*agent.Event, notices []*agent.Notice) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		b.event(e)
	}
	for _, n := range notices {
		b.notice(n)
	}
	return nil
}

// Close has nothing to do.
func (b *Board) Close() error { return nil }

// OutputFailed says why events cannot be written, or nil that they can again.
func (b *Board) OutputFailed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status.OutputError = ""
	if err != nil {
		b.status.OutputError = err.Error()
	}
}

func (b *Board) event(e *agent.Event) {
	b.status.Events[e.Kind.String()]++
	if e.Role == agent.RoleRuntime {
		b.status.Runtime++
		return
	}
	s := b.sessions[e.Event.SessionID]
	if e.Kind == attribution.KindExit {
		if s != nil && s.alive[e.Process.PID] == known(e.Process) {
			b.gone(s, e.Process.PID)
		}
		return
	}
	if s == nil {
		if s = b.begin(e); s == nil {
			return
		}
	}
	s.told(e)
	if e.Kind == attribution.KindExec {
		s.ran(e)
	}
	if _, again := s.alive[e.Process.PID]; !again {
		if b.processes >= b.options.MaxProcesses {
			b.unlisted++
			return
		}
		b.processes++
	}
	p := known(e.Process)
	p.BootID = strings.Clone(p.BootID)
	s.alive[p.PID] = p
}

// known is what tells a process from another of its number.
func known(p attribution.Process) attribution.Process {
	return attribution.Process{PID: p.PID, StartTicks: p.StartTicks, BootID: p.BootID}
}

func (b *Board) begin(e *agent.Event) *entry {
	if len(b.sessions) >= b.options.MaxSessions || b.processes >= b.options.MaxProcesses {
		b.unlisted++
		return nil
	}
	s := &entry{alive: map[int]attribution.Process{}}
	s.SessionID, s.LoginUID = e.Event.SessionID, e.Event.LoginUID
	s.Since, s.Newest = e.Time, e.Time
	s.Earlier = e.Observation.Origin == agent.OriginWalk
	b.sessions[s.SessionID] = s
	return s
}

// told notes what the event says of the session: its record may come after its first events.
func (s *entry) told(e *agent.Event) {
	if s.ContainerID == "" && e.ContainerID != "" {
		s.ContainerID = strings.Clone(e.ContainerID)
		s.Namespace, s.Pod, s.Container = strings.Clone(e.Namespace), strings.Clone(e.Pod), strings.Clone(e.Container)
	}
	if s.Known || e.Session == nil {
		return
	}
	r := e.Session
	s.Known = true
	s.ExecSession, s.AuditID = strings.Clone(r.ExecSession), strings.Clone(r.AuditID)
	s.Namespace, s.Pod, s.Container = strings.Clone(r.Namespace), strings.Clone(r.Pod), strings.Clone(r.Container)
	s.ContainerID = strings.Clone(r.ContainerID)
}

func (s *entry) ran(e *agent.Event) {
	s.Executed++
	s.Command, s.PID, s.Newest = strings.Clone(cut(e.Command, maxCommandBytes)), e.Process.PID, e.Time
}

// cut returns the text's beginning of at most n bytes, whole characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func (b *Board) gone(s *entry, pid int) {
	delete(s.alive, pid)
	b.processes--
	if len(s.alive) == 0 {
		delete(b.sessions, s.SessionID)
	}
}

func (b *Board) notice(n *agent.Notice) {
	switch n.Kind {
	case agent.NoticeLost:
		at := n.Time
		b.status.LastGap = &at
		b.status.Gaps++
		b.status.Lost[b.reason(n.Reason)] += uint64(max(n.Count, 0))
		b.doubtful = true
	case agent.NoticeForged:
		b.status.Forged++
	case agent.NoticeBlind:
		if reason := strings.Clone(n.Reason); len(b.status.Blind) < maxReasons && !slices.Contains(b.status.Blind, reason) {
			b.status.Blind = append(b.status.Blind, reason)
		}
	}
}

// reason bounds how many there are.
func (b *Board) reason(text string) string {
	if _, known := b.status.Lost[text]; !known && len(b.status.Lost) >= maxReasons {
		return otherReason
	}
	return strings.Clone(text)
}

// settle forgets processes whose exit was missed.
func (b *Board) settle() {
	if !b.doubtful || b.options.Alive == nil {
		return
	}
	b.doubtful = false
	for _, s := range b.sessions {
		for pid, p := range s.alive {
			if !b.options.Alive(p) {
				b.gone(s, pid)
			}
		}
	}
}

// Status returns the agent's status as it is now.
func (b *Board) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now()
}

func (b *Board) now() Status {
	b.settle()
	s := b.status
	s.Events, s.Lost, s.Blind = maps.Clone(s.Events), maps.Clone(s.Lost), slices.Clone(s.Blind)
	s.Sessions, s.Processes = len(b.sessions), b.processes
	if b.options.Live != nil {
		b.options.Live(&s)
	}
	return s
}

// Snapshot returns the node as it is now.
func (b *Board) Snapshot() Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Snapshot{Time: b.options.Now(), Status: b.now(), Unlisted: b.unlisted, Sessions: make([]Session, 0, len(b.sessions))}
	for _, s := range b.sessions {
		line := s.Session
		line.Processes = len(s.alive)
		out.Sessions = append(out.Sessions, line)
	}
	slices.SortFunc(out.Sessions, func(a, b Session) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.SessionID, b.SessionID))
	})
	return out
}
