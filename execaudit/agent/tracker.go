package agent

import (
	"bytes"
	"container/list"
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

// Tracker puts observations and records together. It is for one goroutine.
type Tracker struct {
	options Options
	event   func(*Event)
	notice  func(*Notice)
	now     time.Time

	marks map[markKey]*mark
	// recorded are the marks that a record has, bare the others, each from the one that was made first.
	recorded, bare *list.List
	// queue are the marks whose observations wait, in order.
	queue     []*mark
	relieved  int // of the first in queue nothing waits any more
	waiting   int // observations that wait
	heldBytes int
	early     int // observations that did not wait long enough, since the last Advance

	processes map[int]*process
	epoch     int // counts what was lost, or may have been
	current   int // that of the observation that is given
	sequences map[program]uint64
	swept     time.Time
	given     Event
	counts    Counts
}

// Counts are what a Tracker took in and gave since it was made, and what it keeps.
type Counts struct {
	// Events and Notices were given. Unjoined are the events among them of a mark in the range without a session, and
	// Early those among the unjoined that had to leave before their time.
	Events, Notices, Unjoined, Early int
	// Runtime are the events of the runtime's own processes.
	Runtime int
	// Forged are marks in the range that no record has; Conflicts those that two have.
	Forged, Conflicts int
	// Lost is how many observations are known to be missing; LostUnknown how often an unknown number was.
	Lost, LostUnknown int64
	// OtherBoots and Unmarked are records of another boot, and those without a mark.
	OtherBoots, Unmarked int
	// EvictedSessions and EvictedProcesses were forgotten before their time to stay within bounds.
	EvictedSessions, EvictedProcesses int
	// Sessions, Marks, Processes and Held are kept now: marks that a record has and others, live processes, and
	// observations that wait.
	Sessions, Marks, Processes, Held int
}

// program is one of the kernel's, on one CPU.
type program struct {
	cpu  int
	kind Kind
}

// New returns a Tracker that hands out each event and each notice. Every observation becomes exactly one event; those
// of one mark come in the order in which they were made. What the functions are given is theirs until they return.
func New(o Options, event func(*Event), notice func(*Notice)) *Tracker {
	return &Tracker{
		options: o.withDefaults(), event: event, notice: notice, marks: map[markKey]*mark{}, recorded: list.New(),
		bare: list.New(), processes: map[int]*process{}, sequences: map[program]uint64{},
	}
}

// SetBoot changes Options.Boot, where the wall clock was set.
func (t *Tracker) SetBoot(boot time.Time) { t.options.Boot = boot }

// Counts returns the counts so far.
func (t *Tracker) Counts() Counts {
	c := t.counts
	c.Sessions, c.Marks, c.Processes = t.recorded.Len(), t.bare.Len(), len(t.processes)
	c.Held = t.waiting
	return c
}

// Held returns how many observations wait for a record.
func (t *Tracker) Held() int { return t.waiting }

func (t *Tracker) at(o *Observation) time.Time { return t.options.Boot.Add(o.At).UTC() }

// Observe takes in one observation. It keeps nothing of o.
func (t *Tracker) Observe(o *Observation) {
	t.order(o)
	c := t.options.Container(o.CgroupID, o.Cgroup)
	m := t.mark(markKey{o.SessionID, o.LoginUID})
	if m != nil && m.named.PID == 0 {
		m.named, m.namedIn = o.Task, c.ID
	}
	if m == nil || m.record != nil || m.released || m.conflict || !t.inRange(o.LoginUID) {
		t.give(m, o, c, t.epoch)
		return
	}
	t.hold(m, o, c)
}

func (t *Tracker) inRange(login uint32) bool {
	return login-t.options.MinLoginUID <= t.options.MaxLoginUID-t.options.MinLoginUID
}

// order finds observations that are missing before o. What was known of processes may not be so any more. How many are
// missing the reader knows.
func (t *Tracker) order(o *Observation) {
	if o.Sequence == 0 {
		return
	}
	from := program{o.CPU, o.Kind}
	last := t.sequences[from] // 0 at first: nobody knows what was before, but for the very first
	t.sequences[from] = o.Sequence
	if o.Sequence != last+1 {
		t.epoch++
	}
}

// Lost tells that observations are missing: n, or -1 for an unknown number.
func (t *Tracker) Lost(n int64, since, now time.Time, reason string) {
	t.epoch++
	if n < 0 {
		t.counts.LostUnknown++
	} else {
		t.counts.Lost += n
	}
	t.tell(&Notice{Kind: NoticeLost, Time: now, Since: since, Count: n, Reason: reason})
}

// Tell gives a notice of the caller's, with the Tracker's Node and BootID.
func (t *Tracker) Tell(n Notice) { t.tell(&n) }

func (t *Tracker) tell(n *Notice) {
	n.Node, n.BootID = t.options.Node, t.options.BootID
	n.Time = n.Time.UTC()
	t.counts.Notices++
	t.notice(n)
}

// mark returns the mark, made if need be; nil for none.
func (t *Tracker) mark(key markKey) *mark {
	if key.session == 0 || key.session == journal.SessionIDUnset {
		return nil
	}
	m := t.marks[key]
	if m == nil {
		m = &mark{markKey: key, epoch: t.epoch}
		t.marks[key] = m
		m.place = t.bare.PushBack(m)
		t.bound(t.bare)
	}
	m.touched = t.now
	return m
}

// bound forgets a mark where there are too many: one that is over, if there is one near the oldest; never the newest.
func (t *Tracker) bound(l *list.List) {
	if l.Len() <= t.options.MaxSessions {
		return
	}
	victim := l.Front()
	for e, looked := victim, 0; e != l.Back() && looked < 64; e, looked = e.Next(), looked+1 {
		if m := e.Value.(*mark); m.over() {
			victim = e
			break
		}
	}
	t.counts.EvictedSessions++
	t.forget(victim.Value.(*mark))
}

func (m *mark) over() bool { return m.live == 0 && len(m.held) == 0 && (m.ended || m.record == nil) }

func (t *Tracker) forget(m *mark) {
	t.release(m)
	delete(t.marks, m.markKey)
	if m.record != nil {
		t.recorded.Remove(m.place)
	} else {
		t.bare.Remove(m.place)
	}
}

// held is an observation that waits, where its process was, and the epoch in which it was made.
type held struct {
	Observation
	in    Container
	epoch int
}

// hold keeps an observation until its mark's record comes.
func (t *Tracker) hold(m *mark, o *Observation, c Container) {
	kept := held{*o, c, t.epoch}
	kept.Args, kept.Env = redact.NewBytes(bytes.Clone(o.Args.Reveal())), redact.NewBytes(bytes.Clone(o.Env.Reveal()))
	m.held = append(m.held, kept)
	t.heldBytes += kept.size()
	t.waiting++
	if !m.waiting {
		m.waiting, m.since = true, t.now
		if at := t.at(o); at.After(m.since) {
			m.since = at
		}
		t.queue = append(t.queue, m)
	}
	for ; t.heldBytes > t.options.MaxHeldBytes && t.relieved < len(t.queue); t.relieved++ {
		n := len(t.queue[t.relieved].held)
		t.early += n
		t.counts.Early += n
		t.release(t.queue[t.relieved])
	}
	for len(t.queue) > t.options.MaxSessions && t.marks[t.queue[0].markKey] != t.queue[0] { // it was forgotten
		t.next()
	}
}

// next takes the first mark from the queue.
func (t *Tracker) next() *mark {
	m := t.queue[0]
	t.queue[0] = nil
	t.queue = t.queue[1:]
	t.relieved = max(t.relieved-1, 0)
	return m
}

// observationBytes is about the size of an observation without its texts.
const observationBytes = 256

func (o *Observation) size() int {
	return observationBytes + len(o.File) + len(o.Cgroup) + len(o.Args.Reveal()) + len(o.Env.Reveal())
}

// release gives what waits.
func (t *Tracker) release(m *mark) {
	all := m.held
	m.held, m.released = nil, true
	t.waiting -= len(all)
	for i := range all {
		t.heldBytes -= all[i].size()
		t.give(m, &all[i].Observation, all[i].in, all[i].epoch)
	}
}

// Advance tells that it is now: what waited for a record long enough is given.
func (t *Tracker) Advance(now time.Time) {
	t.now = now
	if t.early > 0 {
		t.tell(&Notice{Kind: NoticeBlind, Time: now, Reason: fmt.Sprintf(
			"%d events left before their session's record could come, since too many waited", t.early)})
		t.early = 0
	}
	for len(t.queue) > 0 {
		m := t.queue[0]
		known := t.marks[m.markKey] == m
		if known && m.waiting && m.record == nil && !m.conflict && now.Sub(m.since) < t.options.Hold {
			break
		}
		t.due(t.next(), now)
	}
	if now.Sub(t.swept) >= Linger/4 {
		t.swept = now
		t.sweep(now)
	}
}

// Flush gives everything that waits, since nothing more comes. Of a mark whose record may still come nothing is said.
func (t *Tracker) Flush(now time.Time) {
	t.Advance(now)
	for _, m := range t.queue {
		t.release(m)
	}
	t.queue, t.relieved = nil, 0
}

// due ends the waiting of a mark.
func (t *Tracker) due(m *mark, now time.Time) {
	m.waiting = false
	if m.record == nil && !m.conflict && !m.forged && t.marks[m.markKey] == m {
		m.forged = true
		t.counts.Forged++
		t.tell(t.forgery(m, now))
	}
	t.release(m)
}

func (t *Tracker) forgery(m *mark, now time.Time) *Notice {
	n := &Notice{
		Kind: NoticeForged, Time: now, SessionID: m.session, LoginUID: m.login, Process: t.process(m.named),
		ContainerID: m.namedIn,
		Reason:      "no record of the node has this mark",
	}
	if t.counts.EvictedSessions > 0 {
		n.Reason = "no record that is still known has this mark"
	}
	return n
}

// sweep forgets what is over.
func (t *Tracker) sweep(now time.Time) {
	for _, l := range []*list.List{t.recorded, t.bare} {
		for e := l.Front(); e != nil; {
			m := e.Value.(*mark)
			e = e.Next()
			if m.over() && !m.waiting && now.Sub(m.touched) >= Linger {
				t.forget(m)
			}
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
