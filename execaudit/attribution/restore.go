package attribution

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/wire"
)

// Restore returns a machine as Save wrote it, of which options and the function for answers may be others. Its error is
// r's, or unwraps to ErrState.
func Restore(r io.Reader, options Options, answer func(*Answer)) (*Machine, error) {
	s := &restoring{Reader: wire.NewReader(r), m: New(options, answer)}
	if s.Text() != stateName {
		s.Fail()
	}
	if version := s.Uint(); s.Err() == nil && version != StateVersion {
		return nil, fmt.Errorf("%w of version %d, not %d", ErrState, version, StateVersion)
	}
	s.machine()
	s.list(s.node)
	s.list(s.container)
	s.list(s.session)
	s.list(s.ticket)
	s.list(s.mark)
	s.list(s.root)
	s.links()
	s.list(s.processOf)
	s.queued(&s.m.exited)
	s.queued(&s.m.idle)
	s.list(s.wait)
	s.answers()
	s.clocks()
	if err := s.Close(); err != nil {
		if errors.Is(err, wire.ErrCorrupt) {
			err = fmt.Errorf("%w: %w", ErrState, err)
		}
		return nil, err
	}
	return s.m, nil
}

// restoring is one Restore. Its lists have what the numbers in the state mean.
type restoring struct {
	*wire.Reader
	m          *Machine
	nodes      []*node
	containers []*container
	sessions   []*Session
	tickets    []*ticket
	marks      []*mark
	roots      []*root
	processes  []*process
}

// list reads items until there are as many as it says, or the reader has failed.
func (s *restoring) list(item func()) {
	for n := s.Small(); n > 0 && s.Err() == nil; n-- {
		item()
	}
}

// nth returns what a number means: nil for 0.
func nth[T any](s *restoring, items []*T) *T {
	n := s.Small()
	if n > len(items) {
		s.Fail()
	}
	if n == 0 || s.Err() != nil {
		return nil
	}
	return items[n-1]
}

func (s *restoring) flags(list ...*bool) {
	for _, b := range list {
		*b = s.Bool()
	}
}

func (s *restoring) texts() (list []string) {
	if s.Bool() {
		list = []string{}
	}
	s.list(func() { list = append(list, s.Text()) })
	return list
}

func (s *restoring) machine() {
	for _, n := range s.m.stats.counts() {
		*n = int(s.Int())
	}
	s.m.now, s.m.revised = s.Time(), s.Time()
	s.m.pending.begun = s.Bool()
	s.m.pending.done = s.Int()
	s.list(func() { s.m.lost.bits = append(s.m.lost.bits, s.Uint()) })
	if n := len(s.m.lost.bits); n != 0 && n != lostBits/64 {
		s.Fail()
	}
}

func (s *restoring) node() {
	n := newNode(s.Text())
	n.clock.asked = s.Time()
	s.m.nodes[n.name] = n
	s.m.agedNodes.push(n)
	s.nodes = append(s.nodes, n)
}

// at returns the node of a number; one of no name, which is in no state, after a failure.
func (s *restoring) at() *node {
	n := s.Small()
	if n >= len(s.nodes) {
		s.Fail()
		return newNode("")
	}
	return s.nodes[n]
}

func (s *restoring) shortID() (id containerID) {
	text := s.Text()
	if len(text) != len(id) {
		s.Fail()
	}
	copy(id[:], text)
	return id
}

func (s *restoring) journalKey() journalKey {
	return journalKey{s.shortID(), s.Text()}
}

func (s *restoring) container() {
	c := &container{node: s.at(), id: s.shortID(), namespace: s.Text(), pod: s.Text(), nameText: s.Text(), last: s.Time()}
	s.flags(&c.mixed, &c.gone)
	s.containers = append(s.containers, c)
	if !c.gone {
		c.node.containers[c.id] = c
		s.m.agedContainers.push(c)
		s.m.housed += c.bytes()
	}
}

func (s *restoring) session() {
	o := &Session{AuditID: s.Text(), User: s.user()}
	if s.Bool() {
		u := s.user()
		o.Impersonated = &u
	}
	o.SourceIPs = s.texts()
	for _, text := range [...]*string{&o.UserAgent, &o.Namespace, &o.Pod, &o.Container, &o.ExecSession} {
		*text = s.Text()
	}
	o.Command = s.texts()
	o.Code = int(s.Int())
	o.Received, o.Started, o.Completed = s.Time(), s.Time(), s.Time()
	o.stage, o.changes = Stage(s.Small()), s.Small()
	s.sessions = append(s.sessions, o)
}

func (s *restoring) user() User {
	u := User{Name: s.Text(), UID: s.Text(), Groups: s.texts()}
	if s.Bool() {
		u.Extra = map[string][]string{}
	}
	s.list(func() {
		if u.Extra == nil {
			s.Fail()
			return
		}
		name := s.Text()
		u.Extra[name] = s.texts()
	})
	return u
}

func (s *restoring) ticket() {
	t := &ticket{id: s.Text()}
	s.list(func() {
		if o := nth(s, s.sessions); o != nil {
			t.requests = append(t.requests, o)
		}
	})
	s.list(func() { t.ended = append(t.ended, ended{s.Text(), s.journalKey()}) })
	t.last = s.Time()
	s.flags(&t.crowded, &t.gone)
	s.tickets = append(s.tickets, t)
	if !t.gone {
		s.m.tickets[t.id] = t
		s.m.endedSessions.push(t)
	}
}

func (s *restoring) mark() {
	k := &mark{node: s.at(), key: markKey{s.Text(), uint32(s.Uint())}, first: s.Time(), last: s.Time()}
	queued := false
	s.flags(&k.shared, &queued, &k.gone)
	s.marks = append(s.marks, k)
	if !k.gone {
		k.node.marks[k.key] = k
	}
	if queued {
		s.m.queueMark(k)
	}
}

func (s *restoring) root() {
	r := &root{node: s.at()}
	r.key = s.journalKey()
	r.ticket, r.session = nth(s, s.tickets), nth(s, s.tickets)
	if r.session != nil && !strings.HasPrefix(r.session.id, sessionPrefix) {
		s.Fail()
	}
	r.container, r.mark = nth(s, s.containers), nth(s, s.marks)
	r.process, r.login = s.process(), uint32(s.Uint())
	r.at, r.start, r.end = s.Time(), s.Time(), s.Time()
	s.flags(&r.lost, &r.mixed, &r.intended, &r.reused, &r.gone)
	r.asked = s.Time()
	s.roots = append(s.roots, r)
	if r.gone {
		return
	}
	s.m.agedRoots.push(r)
	r.enlist()
	if r.mark != nil {
		r.mark.held++
	}
}

// enlist has the root found by all that it is found by.
func (r *root) enlist() {
	n := r.node
	n.journal[r.key] = r
	if r.container != nil {
		r.container.roots = append(r.container.roots, r)
	}
	if r.login != 0 {
		r.enlistLogin()
	}
	if r.process.PID == 0 {
		return
	}
	n.byPID[r.process.PID] = append(n.byPID[r.process.PID], r)
	if first := n.byTicks[r.process.ticks()]; r.process.StartTicks > 0 && (first == nil || r.key.compare(first.key) < 0) {
		n.byTicks[r.process.ticks()] = r
	}
}

func (s *restoring) links() {
	for _, t := range s.tickets {
		s.list(func() {
			if r := nth(s, s.roots); r != nil {
				t.roots = append(t.roots, r)
			}
		})
	}
	for _, k := range s.marks {
		k.root = nth(s, s.roots)
	}
}
