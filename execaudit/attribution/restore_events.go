package attribution

import (
	"container/heap"
	"time"
)

func (s *restoring) process() Process {
	return Process{ExecID: s.Text(), ExecIDBits: int(s.Int()), PID: int(s.Int()), StartTicks: s.Uint(), BootID: s.Text()}
}

func (s *restoring) key() processKey {
	return processKey{s.Uint(), s.Uint()}
}

func (s *restoring) processOf() {
	p := &process{node: s.at(), key: s.key(), parent: s.key(), grandparent: s.key(), identity: s.process()}
	p.container, p.claim, p.mark = nth(s, s.containers), nth(s, s.tickets), nth(s, s.marks)
	p.found = nth(s, s.roots)
	p.parentAt, p.at, p.markAt, p.exit, p.last, p.asked = s.Time(), s.Time(), s.Time(), s.Time(), s.Time(), s.Time()
	p.imageTicks = s.Uint()
	s.flags(&p.certain, &p.mixed, &p.first, &p.outside, &p.idle, &p.climbed)
	if p.found != nil {
		p.found.live++
	}
	if p.mark != nil {
		p.mark.live++
	}
	p.node.processes[p.key] = p
	s.m.running++
	s.m.agedProcesses.push(p)
	s.processes = append(s.processes, p)
}

// queued reads a queue of processes.
func (s *restoring) queued(q *queue[*process]) {
	s.list(func() {
		n := s.Small()
		if n >= len(s.processes) {
			s.Fail()
			return
		}
		q.push(s.processes[n])
	})
}

// reference returns a process of the node by its key; one that is gone, where there is none.
func (s *restoring) reference(name string) *process {
	if !s.Bool() {
		return nil
	}
	n, key := s.m.node(name), s.key()
	if p := n.processes[key]; p != nil {
		return p
	}
	return &process{key: key, node: n, gone: true}
}

func (s *restoring) event() (e Event) {
	e.Time, e.Kind = s.Time(), Kind(s.Small())
	for _, text := range [...]*string{
		&e.Agent, &e.Node, &e.Namespace, &e.Pod, &e.Container, &e.ContainerID, &e.AuditID, &e.ExecSession, &e.RequestUID, &e.Command,
	} {
		*text = s.Text()
	}
	e.Process, e.Parent, e.Grandparent = s.process(), s.process(), s.process()
	e.SessionID, e.LoginUID = uint32(s.Uint()), uint32(s.Uint())
	e.ImageTicks = s.Uint()
	s.flags(&e.FirstImage, &e.ParentOutside)
	return e
}

func (s *restoring) wait() {
	e := s.event()
	s.m.pending.add(&e, s.reference(e.Node))
}

func (s *restoring) answers() {
	all := subjects(s.nodes, s.containers, s.tickets, s.marks, s.roots)
	s.list(func() {
		g := &given{answer: s.answer()}
		g.process = s.reference(g.answer.Event.Node)
		g.tree.root, g.tree.claim = nth(s, s.roots), nth(s, s.tickets)
		g.tree.own, g.tree.top = nth(s, s.containers), nth(s, s.containers)
		s.flags(&g.tree.mixed, &g.tree.weak, &g.tree.byMark, &g.tree.torn, &g.tree.stray, &g.tree.edge, &g.tree.open)
		if r := g.tree.root; g.tree.byMark && (r == nil || r.mark == nil) {
			s.Fail()
		}
		g.told = s.Small()
		g.bytes = g.size()
		g.watch(s.subjects(all))
		s.m.given.add(g)
	})
	for _, w := range s.subjects(all) {
		s.m.touch(w)
	}
}

// subjects reads what answers rest on.
func (s *restoring) subjects(all []*watchers) (list []*watchers) {
	s.list(func() {
		if w := nth(s, all); w != nil {
			list = append(list, w)
		}
	})
	return list
}

func (s *restoring) answer() Answer {
	a := Answer{Event: s.event(), Revision: s.Small(), Verdict: Verdict(s.Small()), Reason: Reason(s.Text())}
	a.Key = a.Event.Key()
	a.AuditID, a.ExecSession, a.Session = s.Text(), s.Text(), nth(s, s.sessions)
	s.list(func() {
		if o := nth(s, s.sessions); o != nil {
			a.Claims = append(a.Claims, o)
		}
	})
	return a
}

func (s *restoring) clocks() {
	for _, n := range s.nodes {
		s.list(func() {
			at, ahead := s.Time(), time.Duration(s.Int())
			n.clock.note(sample{at, ahead, s.journalKey()})
		})
	}
	s.list(func() {
		at, r := s.Time(), nth(s, s.roots)
		if r == nil {
			s.Fail()
			return
		}
		heap.Push(&s.m.unsampled, unsampled{at, r})
	})
}
