package attribution

import (
	"maps"
	"slices"
)

func (s *saving) list(n int, item func(int)) {
	s.Uint(uint64(n))
	for i := range n {
		item(i)
	}
}

func (s *saving) flags(list ...bool) {
	for _, b := range list {
		s.Bool(b)
	}
}

func (s *saving) texts(list []string) {
	s.Bool(list != nil)
	s.list(len(list), func(i int) { s.Text(list[i]) })
}

func (s *saving) machine() {
	for _, n := range s.m.stats.counts() {
		s.Int(int64(*n))
	}
	s.Time(s.m.now)
	s.Time(s.m.revised)
	s.Bool(s.m.pending.begun)
	s.Int(s.m.pending.done)
	s.list(len(s.m.lost.bits), func(i int) { s.Uint(s.m.lost.bits[i]) })
}

// counts are those of what has been, not of what is kept.
func (s *Stats) counts() []*int {
	return []*int{
		&s.Audits, &s.Events, &s.Records, &s.Late, &s.Repeated, &s.Unrelated, &s.Revised, &s.EvictedProcesses, &s.EvictedSessions, &s.EarlyAnswers,
		&s.EvictedAnswers, &s.Bytes, &s.PeakBytes,
	}
}

func (s *saving) nodes() {
	s.list(len(s.names), func(i int) {
		n := s.nodeOf(s.names[i])
		s.Text(n.name)
		s.Time(n.clock.asked)
	})
}

// nodeOf returns an empty node for one that was forgotten.
func (s *saving) nodeOf(name string) *node {
	if n := s.m.nodes[name]; n != nil {
		return n
	}
	return newNode(name)
}

func (s *saving) node(n *node) {
	i, _ := slices.BinarySearch(s.names, n.name)
	s.Uint(uint64(i))
}

func (s *saving) container(c *container) {
	s.node(c.node)
	s.Text(string(c.id[:]))
	s.Text(c.namespace)
	s.Text(c.pod)
	s.Text(c.nameText)
	s.Time(c.last)
	s.flags(c.mixed, c.gone)
}

func (s *saving) session(o *Session) {
	s.Text(o.AuditID)
	s.user(&o.User)
	s.Bool(o.Impersonated != nil)
	if o.Impersonated != nil {
		s.user(o.Impersonated)
	}
	s.texts(o.SourceIPs)
	for _, text := range [...]string{o.UserAgent, o.Namespace, o.Pod, o.Container, o.ExecSession} {
		s.Text(text)
	}
	s.texts(o.Command)
	s.Int(int64(o.Code))
	s.Time(o.Received)
	s.Time(o.Started)
	s.Time(o.Completed)
	s.Uint(uint64(o.stage))
	s.Uint(uint64(o.changes))
}

func (s *saving) user(u *User) {
	s.Text(u.Name)
	s.Text(u.UID)
	s.texts(u.Groups)
	s.Bool(u.Extra != nil)
	names := slices.Sorted(maps.Keys(u.Extra))
	s.list(len(names), func(i int) {
		s.Text(names[i])
		s.texts(u.Extra[names[i]])
	})
}

func (s *saving) ticket(t *ticket) {
	s.Text(t.id)
	s.list(len(t.requests), func(i int) { s.Uint(s.sessions.of(t.requests[i])) })
	s.list(len(t.ended), func(i int) {
		s.Text(t.ended[i].node)
		s.journalKey(t.ended[i].key)
	})
	s.Time(t.last)
	s.flags(t.crowded, t.gone)
}

func (s *saving) mark(k *mark) {
	s.node(k.node)
	s.Text(k.key.boot)
	s.Uint(uint64(k.key.session))
	s.Time(k.first)
	s.Time(k.last)
	s.flags(k.shared, k.queued, k.gone)
}

func (s *saving) journalKey(k journalKey) {
	s.Text(string(k.container[:]))
	s.Text(k.execID)
}

func (s *saving) root(r *root) {
	s.node(r.node)
	s.journalKey(r.key)
	s.Uint(s.tickets.of(r.ticket))
	s.Uint(s.tickets.of(r.session))
	s.Uint(s.containers.of(r.container))
	s.Uint(s.marks.of(r.mark))
	s.process(&r.process)
	s.Uint(uint64(r.login))
	s.Time(r.at)
	s.Time(r.start)
	s.Time(r.end)
	s.flags(r.lost, r.mixed, r.intended, r.reused, r.gone)
	s.Time(r.asked)
}

// links are what tickets and marks, which are before the roots, refer to.
func (s *saving) links() {
	for _, t := range s.tickets.items {
		s.list(len(t.roots), func(i int) { s.Uint(s.roots.of(t.roots[i])) })
	}
	for _, k := range s.marks.items {
		s.Uint(s.roots.of(k.root))
	}
}

func (s *saving) process(p *Process) {
	s.Text(p.ExecID)
	s.Int(int64(p.ExecIDBits))
	s.Int(int64(p.PID))
	s.Uint(p.StartTicks)
	s.Text(p.BootID)
}

func (s *saving) key(k processKey) {
	s.Uint(k[0])
	s.Uint(k[1])
}

func (s *saving) processes() {
	numbers := map[*process]uint64{}
	s.list(len(s.alive), func(i int) {
		p := s.alive[i]
		numbers[p] = uint64(i)
		s.node(p.node)
		for _, k := range [...]processKey{p.key, p.parent, p.grandparent} {
			s.key(k)
		}
		s.process(&p.identity)
		s.Uint(s.containers.of(p.container))
		s.Uint(s.tickets.of(p.claim))
		s.Uint(s.marks.of(p.mark))
		s.Uint(s.roots.of(p.found))
		s.Time(p.parentAt)
		s.Time(p.at)
		s.Time(p.markAt)
		s.Time(p.exit)
		s.Time(p.last)
		s.Time(p.asked)
		s.Uint(p.imageTicks)
		s.flags(p.certain, p.mixed, p.first, p.outside, p.idle, p.climbed)
	})
	s.queued(&s.m.exited, numbers)
	s.queued(&s.m.idle, numbers)
}

// queued writes a queue of processes, by their numbers.
func (s *saving) queued(q *queue[*process], numbers map[*process]uint64) {
	var waiting []uint64
	for p := range q.all() {
		if !p.gone {
			waiting = append(waiting, numbers[p])
		}
	}
	s.list(len(waiting), func(i int) { s.Uint(waiting[i]) })
}

// reference is a process that may be gone, and may come again.
func (s *saving) reference(p *process) {
	s.Bool(p != nil)
	if p != nil {
		s.key(p.key)
	}
}

func (s *saving) event(e *Event) {
	s.Time(e.Time)
	s.Uint(uint64(e.Kind))
	for _, text := range [...]string{
		e.Agent, e.Node, e.Namespace, e.Pod, e.Container, e.ContainerID, e.AuditID, e.ExecSession, e.RequestUID, e.Command,
	} {
		s.Text(text)
	}
	for _, p := range [...]*Process{&e.Process, &e.Parent, &e.Grandparent} {
		s.process(p)
	}
	s.Uint(uint64(e.SessionID))
	s.Uint(uint64(e.LoginUID))
	s.Uint(e.ImageTicks)
	s.flags(e.FirstImage, e.ParentOutside)
}

func (s *saving) waiting() {
	seconds := slices.Sorted(maps.Keys(s.m.pending.buckets))
	s.Uint(uint64(s.m.pending.count))
	for _, second := range seconds {
		for i := range s.m.pending.buckets[second].events {
			w := &s.m.pending.buckets[second].events[i]
			s.event(&w.answer.Event)
			s.reference(w.process)
		}
	}
}

func (s *saving) answers() {
	s.Uint(uint64(s.m.given.count))
	for g := range s.m.given.all() {
		s.answer(&g.answer)
		s.reference(g.process)
		s.Uint(s.roots.of(g.tree.root))
		s.Uint(s.tickets.of(g.tree.claim))
		s.Uint(s.containers.of(g.tree.top))
		s.flags(g.tree.mixed, g.tree.weak, g.tree.byMark, g.tree.torn, g.tree.stray, g.tree.edge, g.tree.open)
		s.Uint(uint64(g.told))
		s.subjects(g.on)
	}
	s.subjects(s.m.touched)
}

// subjects writes what answers rest on, but for what is forgotten.
func (s *saving) subjects(list []*watchers) {
	var numbers []uint64
	for _, w := range list {
		if n := s.watched[w]; n > 0 {
			numbers = append(numbers, n)
		}
	}
	s.list(len(numbers), func(i int) { s.Uint(numbers[i]) })
}

func (s *saving) answer(a *Answer) {
	s.event(&a.Event)
	s.Uint(uint64(a.Revision))
	s.Uint(uint64(a.Verdict))
	s.Text(string(a.Reason))
	s.Text(a.AuditID)
	s.Text(a.ExecSession)
	s.Uint(s.sessions.of(a.Session))
	s.list(len(a.Claims), func(i int) { s.Uint(s.sessions.of(a.Claims[i])) })
}

func (s *saving) clocks() {
	for _, name := range s.names {
		samples := s.nodeOf(name).clock.samples
		s.list(len(samples), func(i int) {
			s.Time(samples[i].at)
			s.Int(int64(samples[i].ahead))
			s.journalKey(samples[i].key)
		})
	}
	alive := slices.DeleteFunc(slices.Clone(s.m.unsampled), func(u unsampled) bool { return u.root.gone })
	slices.SortFunc(alive, unsampled.compare)
	s.list(len(alive), func(i int) {
		s.Time(alive[i].at)
		s.Uint(s.roots.of(alive[i].root))
	})
}
