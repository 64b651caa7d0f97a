package attribution

import (
	"maps"
	"slices"
)

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
		s.Uint(s.containers.of(g.tree.own))
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
