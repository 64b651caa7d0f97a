package attribution

import (
	"cmp"
	"slices"
	"time"
)

// judge decides by what is known now: by the kernel's mark, else by the tree of processes, else by the claim alone.
func (m *Machine) judge(a *Answer, t tree) {
	m.subjects = m.subjects[:0]
	e := &a.Event
	own := m.known(e)
	k := m.markOf(e)
	if k != nil {
		m.rest(&k.watchers)
	}
	anchor := k.anchor()
	switch {
	case t.torn, anchor != nil && t.root != nil && t.root != anchor && !t.weak && !t.root.anchored():
		m.judgeTorn(a, t.root)
	case anchor != nil:
		m.judgeRooted(a, tree{root: anchor}, own, ReasonKernel)
	case t.root != nil && k != nil && t.root.anchored():
		m.judgeTorn(a, t.root)
	case t.root != nil:
		m.judgeRooted(a, t, own, ReasonChain)
	default:
		m.judgeClaim(a, t, own)
	}
}

// known returns the ticket of the event's own claim; nil for none, and for one that was let go.
func (m *Machine) known(e *Event) *ticket {
	if id := e.claim(); id != "" {
		return m.tickets[id]
	}
	return nil
}

func (m *Machine) markOf(e *Event) *mark {
	n := m.nodes[e.Node]
	if n == nil || e.SessionID == 0 || e.Process.BootID == "" {
		return nil
	}
	return n.marks[markKey{e.Process.BootID, e.SessionID}]
}

func (a *Answer) conclude(v Verdict, why Reason) {
	a.Verdict, a.Reason = v, why
}

// judgeTorn is for a process that is of one session by its tree and of another by its mark.
func (m *Machine) judgeTorn(a *Answer, r *root) {
	m.rest(&r.watchers)
	m.restTicket(r.primary())
	a.identify(r)
	a.conclude(VerdictConflicting, ReasonOtherSession)
}

// identify says which session the evidence leads to.
func (a *Answer) identify(r *root) {
	switch t := r.primary(); {
	case t == nil:
	case t.isAuditID():
		a.AuditID = t.id
	case t.only() != nil:
		a.AuditID = t.only().AuditID
	}
	if r.session != nil {
		a.ExecSession = r.session.id[len(sessionPrefix):]
	}
}

// judgeRooted decides for a process of a session that a journal recorded; why is how that is known.
func (m *Machine) judgeRooted(a *Answer, t tree, own *ticket, why Reason) {
	r := t.root
	m.rest(&r.watchers)
	if t.weak {
		m.rest(m.loose(&a.Event))
	}
	m.restTicket(r.primary())
	if t.byMark {
		m.rest(&r.mark.watchers)
	}
	a.identify(r)
	foreign := a.Event.claims() && !r.claimed(own)
	switch {
	case r.mixed:
		a.conclude(VerdictConflicting, ReasonTwoClaims)
	case r.primary() == nil && foreign:
		m.restTicket(own)
		a.conclude(VerdictConflicting, ReasonInvented)
		a.Claims = own.claims()
	case r.primary() == nil:
		a.conclude(VerdictUnknown, ReasonSessionNoID)
	case foreign && why == ReasonChain:
		m.restTicket(own)
		a.conclude(VerdictConflicting, ReasonSpoofed)
		a.Claims = own.claims()
	case r.primary().id == placeholder:
		a.conclude(VerdictPlaceholder, ReasonPlaceholder)
	default:
		m.corroborate(a, t, why)
		if foreign && a.Verdict == VerdictCorroborated {
			m.restTicket(own)
			a.Reason, a.Claims = ReasonKernelSpoofed, own.claims()
		}
	}
}

func (m *Machine) restTicket(t *ticket) {
	if t != nil {
		m.rest(&t.watchers)
	}
}

func (e *Event) claims() bool {
	return e.AuditID != "" || e.ExecSession != "" || e.RequestUID != ""
}

// claimed reports whether what an event claims is the session: an ID that the journal has for it, or another of its
// request's.
func (r *root) claimed(own *ticket) bool {
	if r.carries(own) {
		return true
	}
	claimed, request := own.only(), r.primary().only()
	return claimed != nil && claimed == request
}

// only returns the one request that has the ID, nil when there are none or several; the placeholder is not an ID.
func (t *ticket) only() *Session {
	if t == nil || t.crowded || t.id == placeholder {
		return nil
	}
	if accepted := t.accepted(); len(accepted) == 1 {
		return accepted[0]
	}
	return nil
}

// claims returns the requests that have the ID, by the time they were received; nil for the placeholder, which is not an ID.
func (t *ticket) claims() []*Session {
	if t == nil || t.id == placeholder || len(t.requests) == 0 {
		return nil
	}
	claims := slices.Clone(t.accepted())
	slices.SortStableFunc(claims, (*Session).compare)
	return claims
}

// corroborate asks whether the one request of the session's ID fits what the node saw.
func (m *Machine) corroborate(a *Answer, t tree, why Reason) {
	r, id := t.root, t.root.primary()
	s := id.only()
	a.Claims = id.claims()
	where := r.container.place()
	switch {
	case len(id.requests) == 0:
		a.conclude(VerdictUnknown, m.absent(id))
	case s == nil:
		a.conclude(VerdictConflicting, ReasonReused)
	case r.reused:
		a.conclude(VerdictConflicting, ReasonManyRoots)
	case s.Refused():
		a.conclude(VerdictConflicting, ReasonRefused)
	case r.disagrees(s):
		a.conclude(VerdictConflicting, ReasonTwoClaims)
	case where.contradicts(s) != "":
		a.conclude(VerdictConflicting, where.contradicts(s))
	case !m.startFits(s, r):
		a.conclude(VerdictConflicting, ReasonTime)
	case m.lost.has(id.id) || m.lost.has(s.AuditID):
		a.conclude(VerdictHint, ReasonEvicted)
	case s.nameless():
		a.conclude(VerdictUnknown, ReasonNoUser)
		a.Claims = nil
	case s.stage == StageRequestReceived:
		a.conclude(VerdictHint, ReasonFirstStage)
	case r.node.name == "":
		a.conclude(VerdictHint, ReasonNoNode) // the events of any number of nodes
	case !where.known() || s.Namespace == "" || s.Pod == "":
		a.conclude(VerdictHint, ReasonNoPod)
	case t.weak:
		a.conclude(VerdictHint, ReasonWeak)
	default:
		a.conclude(VerdictCorroborated, why)
		a.Session, a.Claims = s, nil
	}
}

// disagrees reports whether journal and audit log have two IDs of a bridge for one session.
func (r *root) disagrees(s *Session) bool {
	return r.session != nil && s.ExecSession != "" && r.session.id[len(sessionPrefix):] != clip(s.ExecSession)
}

func (m *Machine) absent(t *ticket) Reason {
	if m.lost.has(t.id) {
		return ReasonEvicted
	}
	return ReasonNoAudit
}

// startFits reports whether the session's first process started when the request says that one may have, by clocks that
// differ as those of the sessions around it.
func (m *Machine) startFits(s *Session, r *root) bool {
	if s.startedAt(r.at, &m.options) {
		return true
	}
	c := &r.node.clock
	m.rest(&c.doubted)
	ahead := r.at.Sub(s.Received)
	return ahead.Abs() > m.options.Skew && c.usual(r.at, ahead, r.key, m.options.Skew)
}

// startedAt reports whether a session's first process may have started then.
func (s *Session) startedAt(at time.Time, o *Options) bool {
	until := latest(s.Received, s.Started).Add(o.StartWithin)
	if !s.Completed.IsZero() && s.Completed.Before(until) {
		until = s.Completed
	}
	return !at.Before(s.Received.Add(-o.Skew)) && !at.After(until.Add(o.Skew))
}

// locate fills in what the agent left out.
func (e *Event) locate(p place) {
	e.Namespace, e.Pod, e.Container = cmp.Or(e.Namespace, p.namespace), cmp.Or(e.Pod, p.pod), cmp.Or(e.Container, p.container)
}

func (m *Machine) placeOf(e *Event) place {
	if n := m.nodes[e.Node]; n != nil && e.ContainerID != "" {
		if c := n.containers[shortID(e.ContainerID)]; c != nil && !c.mixed {
			return c.place()
		}
	}
	return place{e.Namespace, e.Pod, e.Container}
}
