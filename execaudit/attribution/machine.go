package attribution

import "time"

// Defaults of Options.
const (
	// DefaultWindow is how long an event waits for what may explain it.
	DefaultWindow = 30 * time.Second
	// DefaultLinger is how long what is over is remembered.
	DefaultLinger = 5 * time.Minute
	// DefaultSkew is how far the clocks of API servers and nodes may be apart.
	DefaultSkew = 2 * time.Second
	// DefaultStartWithin is how long after the response began a session's first process may still start.
	DefaultStartWithin = 30 * time.Second
	// DefaultMaxBytes bounds the state.
	DefaultMaxBytes = 128 << 20 // 128 MiB
)

// Forever as Options.Window lets every answer wait for Flush.
const Forever = time.Duration(1<<63 - 1)

// Options tune a Machine. The zero value is the default.
type Options struct {
	// Window is how long an event waits for late evidence before it is answered; 0 means DefaultWindow.
	Window time.Duration
	// Linger is how long, after the window, an exited process, a completed session and an answer are remembered; 0 means
	// DefaultLinger. Evidence that comes within it revises the answer.
	Linger time.Duration
	// Skew is the tolerance between the clocks of API servers and nodes; 0 means DefaultSkew, negative none.
	Skew time.Duration
	// StartWithin is how long a session's first process may take to start; 0 means DefaultStartWithin.
	StartWithin time.Duration
	// MaxBytes bounds the state, as Stats counts it; 0 means DefaultMaxBytes.
	MaxBytes int
	// All asks for answers also about processes with neither ID nor session.
	All bool
	// Last asks for each event's last answer only, once nothing revises it any more: after Linger, or by Flush. Without
	// it, each answer is given when its window has passed, and again whenever it is revised.
	Last bool
}

func (o Options) withDefaults() Options {
	pick := func(d *time.Duration, standard time.Duration) {
		if *d == 0 {
			*d = standard
		}
	}
	pick(&o.Window, DefaultWindow)
	pick(&o.Linger, DefaultLinger)
	pick(&o.Skew, DefaultSkew)
	pick(&o.StartWithin, DefaultStartWithin)
	o.Skew = max(o.Skew, 0)
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return o
}

// Stats counts what a Machine took in and let go.
type Stats struct {
	// Audits, Events and Records were added.
	Audits, Events, Records int
	// Late events were older than what had already been answered.
	Late int
	// Repeated events were told before in all the same words, and are answered once.
	Repeated int
	// Unrelated events had neither ID nor session and, without Options.All, no answer.
	Unrelated int
	// Revised answers were given again, as another answer.
	Revised int
	// EvictedProcesses, EvictedSessions and EarlyAnswers count what MaxBytes cost; EvictedAnswers are those that it put
	// beyond revision before their time.
	EvictedProcesses, EvictedSessions, EarlyAnswers, EvictedAnswers int
	// Sessions, Processes, Pending and Answers are what is kept now: IDs, processes, events that wait for their answer,
	// and answers that can be revised.
	Sessions, Processes, Pending, Answers int
	// Bytes is the estimated size of what is kept now; PeakBytes its highest value between two pieces of evidence.
	Bytes, PeakBytes int
}

// Machine joins process events with the sessions they belong to. Evidence goes in by AddAudit, AddRecord and
// AddEvent, in any order; answers come out by the function given to New, when Advance says that their window has
// passed, or Flush that nothing more comes. It is for one goroutine. Machines share nothing: several answer together
// what one would, when all events and records of a node go to one of them, and audit events to each.
type Machine struct {
	options Options
	answer  func(*Answer)
	stats   Stats

	tickets  map[string]*ticket
	nodes    map[string]*node
	lastNode *node // events of one node come together
	running  int   // processes of all nodes
	pending  pending
	given    schedule
	current  Answer      // the one being given about a late event
	subjects []*watchers // that the answer being judged rests on
	touched  []*watchers
	now      time.Time // the highest time Advance was told
	revised  time.Time // when answers were judged again
	ended    bool      // nothing more comes

	unsampled      earliest
	endedSessions  ages[*ticket]
	agedMarks      ages[*mark]
	agedProcesses  queue[*process]
	exited         queue[*process]
	idle           queue[*process]
	agedRoots      ages[*root]
	agedContainers ages[*container]
	agedNodes      queue[*node]
	housed         int // bytes of containers
	lost           lostIDs
}

// New returns an empty Machine. answer is called for each event that has an answer, in order of time within one
// Advance, and again for each that evidence has revised since, as Options.Last says; what it is given is its own until
// it returns, strings included.
func New(options Options, answer func(*Answer)) *Machine {
	return &Machine{
		options: options.withDefaults(), answer: answer,
		tickets: map[string]*ticket{}, nodes: map[string]*node{},
		pending: newPending(), given: newSchedule(),
		endedSessions:  newAges(func(t *ticket) time.Time { return alive(t.gone, t.last) }),
		agedMarks:      newAges(func(k *mark) time.Time { return alive(k.gone, k.last) }),
		agedRoots:      newAges(func(r *root) time.Time { return alive(r.gone, latest(latest(r.at, r.end), r.asked)) }),
		agedContainers: newAges(func(c *container) time.Time { return alive(c.gone, c.last) }),
	}
}

// AddAudit takes in one stage of an exec request's audit event.
func (m *Machine) AddAudit(a *Audit) {
	m.stats.Audits++
	if s := m.request(m.ticket(a.AuditID, a.Received), a); s != nil {
		if a.RequestUID != "" {
			m.link(uidPrefix+a.RequestUID, s, a)
		}
		if a.ExecSession != "" {
			m.link(sessionPrefix+a.ExecSession, s, a)
		}
	}
	m.shrink()
}

// AddEvent takes in a process event.
func (m *Machine) AddEvent(e *Event) {
	m.stats.Events++
	p := m.learn(e)
	if m.pending.answered(e.Time) {
		m.stats.Late++
		if p != nil {
			m.touch(p.node.loosened(p.container))
			m.touch(&p.node.loose)
		}
		m.current = Answer{Event: *e}
		m.settle(&m.current, p, false)
		m.shrink()
		return
	}
	m.grow(m.pending.add(e, p))
	m.shrink()
}

// Advance tells that it is t now, by the clock of the events or the wall, and answers every event whose window has
// passed. A t before an earlier one changes nothing.
func (m *Machine) Advance(t time.Time) {
	if !t.After(m.now) {
		return
	}
	m.now = t
	if m.options.Window == Forever {
		return
	}
	over := t.Add(-m.options.Window)
	m.sample(over)
	if t.Sub(m.revised) >= revisePause {
		m.revised = t
		m.revise()
	}
	for m.pending.due(over) {
		m.settleOldest(false)
	}
	m.finish(over.Add(-m.options.Linger))
	m.forget()
	m.shrink()
}

// Flush answers everything that waits, and gives every answer for the last time: nothing more comes.
func (m *Machine) Flush() {
	m.sample(endOfTime)
	for _, n := range m.nodes {
		m.touch(&n.clock.doubted)
	}
	m.revise()
	m.ended = true
	m.finish(endOfTime)
	for m.pending.count > 0 {
		m.settleOldest(false)
	}
	m.ended = false
}

// endOfTime is later than all that Unix nanoseconds can tell.
var endOfTime = time.Unix(1<<40, 0)

// Stats returns the counts so far.
func (m *Machine) Stats() Stats {
	s := m.stats
	s.Sessions, s.Processes, s.Pending, s.Answers = len(m.tickets), m.running, m.pending.count, m.given.count
	return s
}

func (m *Machine) settleOldest(early bool) {
	m.settleAll(m.pending.pop(), early)
}

func (m *Machine) settleAll(b *bucket, early bool) {
	m.grow(-b.bytes)
	for i, w := range b.order {
		if i > 0 && w.answer.Event == b.order[i-1].answer.Event {
			m.stats.Repeated++
			continue
		}
		if p := w.process; p != nil && p.gone { // dropped, and perhaps made anew
			w.process = m.again(p)
		}
		m.settle(&w.answer, w.process, early)
	}
	m.pending.recycle(b)
}

// settle gives an answer and lets go of what its event was the last use of.
func (m *Machine) settle(a *Answer, p *process, early bool) {
	t := m.tree(&a.Event, p)
	if !m.options.All && a.Event.alone() && t.empty() {
		m.pass(&a.Event, p, early)
		return
	}
	m.judge(a, t)
	if early && a.Verdict == VerdictCorroborated {
		a.Verdict, a.Reason, a.Session, a.Claims = VerdictHint, ReasonEarly, nil, []*Session{a.Session}
	}
	if early {
		m.stats.EarlyAnswers++
	}
	if p != nil {
		m.used(&a.Event, p)
	}
	if a.Reason == ReasonNoID && !m.options.All {
		m.stats.Unrelated++
		return
	}
	a.Key, a.Revision = a.Event.Key(), 1
	last := early || m.ended
	if last || !m.options.Last {
		m.give(a)
	}
	if !last {
		m.keep(a, p, t)
	}
}

// pass lets go of an event that has no session and claims none, as most have.
func (m *Machine) pass(e *Event, p *process, early bool) {
	if early {
		m.stats.EarlyAnswers++
	}
	if p != nil {
		m.used(e, p)
	}
	m.stats.Unrelated++
}

// give hands out an answer, with the names of its pod that its agent left out.
func (m *Machine) give(a *Answer) {
	e := &a.Event
	namespace, pod, container := e.Namespace, e.Pod, e.Container
	if pod == "" || container == "" {
		e.locate(m.placeOf(e))
	}
	m.answer(a)
	e.Namespace, e.Pod, e.Container = namespace, pod, container
}
