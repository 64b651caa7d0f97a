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
