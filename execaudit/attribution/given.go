package attribution

import (
	"container/heap"
	"iter"
	"maps"
	"slices"
	"time"
)

// given is an answer that evidence may revise.
type given struct {
	answer  Answer // its event as it was added
	process *process
	tree    tree
	on      []*watchers
	told    int // version of the sessions that the answer named
	bytes   int
	final   bool
}

// rest notes that the answer that is being judged rests on w.
func (m *Machine) rest(w *watchers) {
	if !slices.Contains(m.subjects, w) {
		m.subjects = append(m.subjects, w)
	}
}

// watch has g judged again when what it rests on changes. What it rested on once, it goes on to watch.
func (g *given) watch(subjects []*watchers) {
	for _, w := range subjects {
		if !slices.Contains(g.on, w) {
			g.on = append(g.on, w)
			w.add(g)
		}
	}
}

// keep remembers an answer until nothing revises it any more.
func (m *Machine) keep(a *Answer, of *process, t tree) {
	g := &given{answer: *a, process: of, tree: t, told: a.version()}
	g.answer.Event.own(m.node(a.Event.Node))
	g.bytes = g.size()
	g.watch(m.subjects)
	m.given.add(g)
	m.grow(g.bytes)
	m.shrink()
}

// revisePause is how long answers are not judged again: a container in which every process makes a new claim has all of
// its answers judged again each time.
const revisePause = time.Second

// revise judges again what rests on evidence that has changed.
func (m *Machine) revise() {
	if len(m.touched) == 0 {
		return
	}
	var again []*given
	for _, w := range m.touched {
		w.compact()
		w.touched = false
		again = append(again, w.answers...)
	}
	clear(m.touched)
	m.touched = m.touched[:0]
	slices.SortFunc(again, (*given).compare)
	for i, g := range again {
		if i == 0 || g != again[i-1] {
			m.judgeAgain(g)
		}
	}
}

func (g *given) compare(o *given) int {
	return g.answer.Event.compare(&o.answer.Event)
}

// judgeAgain gives the answer once more if it is another one now.
func (m *Machine) judgeAgain(g *given) {
	now := Answer{Key: g.answer.Key, Revision: g.answer.Revision, Event: g.answer.Event}
	m.climbAgain(g)
	m.judge(&now, g.tree)
	g.watch(m.subjects)
	told := now.version()
	if told == g.told && now.same(&g.answer) {
		return
	}
	now.Revision++
	m.stats.Revised++
	g.answer, g.told = now, told
	if !m.options.Last {
		m.give(&now)
	}
}

func (g *given) size() int {
	return givenBytes - eventBytes + g.answer.Event.bytes()
}

// climbAgain looks up again what is above the answer's process, unless that is known for good, or its process was let go.
func (m *Machine) climbAgain(g *given) {
	t, p := &g.tree, g.process
	if t.root != nil && !t.byMark && !t.torn && !t.weak {
		return
	}
	if p != nil && p.gone {
		p = m.again(p)
		g.process = p
	}
	switch {
	case p != nil || t.root == nil && t.claim == nil:
		if now := m.tree(&g.answer.Event, p); !now.forgets(t) {
			*t = now
		}
	case t.root != nil && !t.root.anchored():
		t.root, t.byMark, t.torn = nil, false, false
	}
}

// version changes when one of the sessions that the answer names does.
func (a *Answer) version() int {
	version := 0
	if a.Session != nil {
		version = a.Session.changes
	}
	for _, s := range a.Claims {
		version += s.changes
	}
	return version
}

// finish gives for good what nothing that is from t or later revises.
func (m *Machine) finish(t time.Time) {
	for m.given.due(t) {
		m.finishOldest()
	}
}

// finishOldest returns how many answers it put beyond revision.
func (m *Machine) finishOldest() int {
	answers := m.given.pop()
	for _, g := range answers {
		doubted := &m.node(g.answer.Event.Node).clock.doubted
		if slices.ContainsFunc(g.on, func(w *watchers) bool { return w == doubted || w.touched }) {
			m.judgeAgain(g)
		}
		if m.options.Last {
			m.give(&g.answer)
		}
		g.end()
		m.grow(-g.bytes)
	}
	return len(answers)
}

// end puts the answer beyond revision.
func (g *given) end() {
	g.final = true
	for _, w := range g.on {
		w.leave()
	}
	g.on = nil
}

// schedule has answers by the second of their event.
type schedule struct {
	buckets map[int64][]*given
	seconds secondsHeap
	count   int
}

func newSchedule() schedule {
	return schedule{buckets: map[int64][]*given{}}
}

func (s *schedule) add(g *given) {
	second := g.answer.Event.Time.Unix()
	bucket := s.buckets[second]
	if bucket == nil {
		heap.Push(&s.seconds, second)
	}
	s.buckets[second] = append(bucket, g)
	s.count++
}

// all yields the answers by second, and in a second in the order in which they came.
func (s *schedule) all() iter.Seq[*given] {
	return func(yield func(*given) bool) {
		for _, second := range slices.Sorted(maps.Keys(s.buckets)) {
			for _, g := range s.buckets[second] {
				if !yield(g) {
					return
				}
			}
		}
	}
}

// due reports whether the oldest bucket ends at or before t.
func (s *schedule) due(t time.Time) bool {
	return len(s.seconds) > 0 && s.seconds[0] < t.Unix()
}

// pop takes the oldest bucket out, its answers in order.
func (s *schedule) pop() []*given {
	second := heap.Pop(&s.seconds).(int64)
	answers := s.buckets[second]
	delete(s.buckets, second)
	s.count -= len(answers)
	slices.SortStableFunc(answers, (*given).compare)
	return answers
}

// same reports whether two answers about one event say the same.
func (a *Answer) same(b *Answer) bool {
	return a.Verdict == b.Verdict && a.Reason == b.Reason && a.AuditID == b.AuditID && a.ExecSession == b.ExecSession &&
		a.Session.same(b.Session) && slices.EqualFunc(a.Claims, b.Claims, (*Session).same)
}
