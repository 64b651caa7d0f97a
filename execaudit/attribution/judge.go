package attribution

import (
	"cmp"
	"slices"
	"strings"
)

// judge decides by what is known now: first by the chain of processes, else by the claim alone.
func (m *Machine) judge(a *Answer, p *process) {
	e := &a.Event
	own := m.known(e)
	var c chain
	if p != nil {
		c = m.climb(p)
	} else if n := m.nodes[e.Node]; n != nil && n.covered {
		c.root = n.find(sighting{
			process: Process{PID: e.Process.PID}, container: n.containers[shortID(e.ContainerID)], at: e.Time, claim: own,
		})
	}
	if e.Pod == "" || e.Container == "" {
		a.Event.locate(m.placeOf(e))
	}
	if c.root != nil {
		m.judgeRooted(a, c.root, own)
		return
	}
	m.judgeClaim(a, c, own)
}

func (m *Machine) known(e *Event) *ticket {
	if e.AuditID != "" {
		return m.tickets[clip(e.AuditID)]
	}
	if e.RequestUID != "" {
		return m.tickets[clip(uidPrefix+e.RequestUID)]
	}
	return nil
}

func (a *Answer) conclude(v Verdict, why Reason) {
	a.Verdict, a.Reason = v, why
}

// judgeRooted decides for a process that descends from a session's first one.
func (m *Machine) judgeRooted(a *Answer, r *root, own *ticket) {
	if r.ticket != nil {
		a.AuditID = r.ticket.id
	}
	claims := a.Event.claims()
	switch {
	case r.mixed:
		a.conclude(VerdictConflicting, ReasonTwoClaims)
	case r.ticket == nil && claims:
		a.conclude(VerdictConflicting, ReasonInvented)
		a.Claims = own.claims()
	case r.ticket == nil:
		a.conclude(VerdictUnknown, ReasonSessionNoID)
	case claims && !a.Event.agrees(own, r.ticket):
		a.conclude(VerdictConflicting, ReasonSpoofed)
		a.Claims = own.claims()
	case r.ticket.id == placeholder:
		a.conclude(VerdictPlaceholder, ReasonPlaceholder)
	default:
		m.corroborate(a, r)
	}
}

func (e *Event) claims() bool {
	return e.AuditID != "" || e.RequestUID != ""
}

// agrees reports whether what an event claims is the session that evidence says.
func (e *Event) agrees(own, evidence *ticket) bool {
	if e.AuditID != "" {
		return clip(e.AuditID) == evidence.id
	}
	s := own.only()
	return s != nil && s.AuditID == evidence.id
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

// corroborate asks whether the one request of the root's ID fits what the node saw.
func (m *Machine) corroborate(a *Answer, r *root) {
	s := r.ticket.only()
	a.Claims = r.ticket.claims()
	where := r.container.place()
	switch {
	case len(r.ticket.requests) == 0:
		a.conclude(VerdictUnknown, m.absent(r.ticket))
	case s == nil:
		a.conclude(VerdictConflicting, ReasonReused)
	case r.ticket.rootsOn(r.node) > 1:
		a.conclude(VerdictConflicting, ReasonManyRoots)
	case s.Refused():
		a.conclude(VerdictConflicting, ReasonRefused)
	case r.container != nil && a.Event.ContainerID != "" && shortID(a.Event.ContainerID) != r.container.id:
		a.conclude(VerdictConflicting, ReasonEdge)
	case where.contradicts(s) != "":
		a.conclude(VerdictConflicting, where.contradicts(s))
	case !m.startFits(s, r):
		a.conclude(VerdictConflicting, ReasonTime)
	case m.lost.has(s.AuditID):
		a.conclude(VerdictHint, ReasonEvicted)
	case s.nameless():
		a.conclude(VerdictUnknown, ReasonNoUser)
		a.Claims = nil
	case r.node.name == "":
		a.conclude(VerdictHint, ReasonNoNode) // the events of any number of nodes
	case !where.known() || s.Namespace == "" || s.Pod == "":
		a.conclude(VerdictHint, ReasonNoPod)
	default:
		a.conclude(VerdictCorroborated, ReasonChain)
		a.Session, a.Claims = s, nil
	}
}

func (m *Machine) absent(t *ticket) Reason {
	if m.lost.has(t.id) {
		return ReasonEvicted
	}
	return ReasonNoAudit
}

// startFits reports whether the session's first process started when the request says that one may have.
func (m *Machine) startFits(s *Session, r *root) bool {
	latest := s.Received
	if s.Started.After(latest) {
		latest = s.Started
	}
	latest = latest.Add(m.options.StartWithin)
	if !s.Completed.IsZero() && s.Completed.Before(latest) {
		latest = s.Completed
	}
	skew := m.options.Skew
	return !r.at.Before(s.Received.Add(-skew)) && !r.at.After(latest.Add(skew))
}

// judgeClaim decides for a process without a way up to a session: at best a hint.
func (m *Machine) judgeClaim(a *Answer, c chain, own *ticket) {
	t := own
	if t == nil {
		t = c.claim
	}
	if t == nil {
		a.unclaimed()
		return
	}
	s := t.only()
	a.Claims = t.claims()
	switch {
	case s != nil:
		a.AuditID = s.AuditID
	case !strings.HasPrefix(t.id, uidPrefix):
		a.AuditID = t.id
	}
	where := m.placeOf(&a.Event)
	switch {
	case c.mixed, c.claim != nil && !c.claim.is(t):
		a.conclude(VerdictConflicting, ReasonTwoClaims)
	case t.id == placeholder:
		a.conclude(VerdictPlaceholder, ReasonPlaceholder)
		a.Claims = nil
	case len(t.requests) == 0:
		a.conclude(VerdictUnknown, m.absent(t))
	case s == nil:
		a.conclude(VerdictConflicting, ReasonReused)
	case s.Refused():
		a.conclude(VerdictConflicting, ReasonRefused)
	case where.contradicts(s) != "":
		a.conclude(VerdictConflicting, where.contradicts(s))
	case m.outside(s, &a.Event):
		a.conclude(VerdictConflicting, ReasonTime)
	case s.nameless():
		a.conclude(VerdictUnknown, ReasonNoUser)
		a.Claims = nil
	case m.lost.has(s.AuditID):
		a.conclude(VerdictHint, ReasonEvicted)
	default:
		a.conclude(VerdictHint, ReasonNoChain)
	}
}

// unclaimed decides where no ID is known: none was claimed, or its entry was evicted.
func (a *Answer) unclaimed() {
	a.AuditID = clip(a.Event.AuditID)
	if a.Event.claims() {
		a.conclude(VerdictUnknown, ReasonEvicted)
		return
	}
	a.conclude(VerdictUnknown, ReasonNoID)
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

// outside reports whether an event lies outside of its claimed session's time.
func (m *Machine) outside(s *Session, e *Event) bool {
	skew := m.options.Skew
	return e.Time.Before(s.Received.Add(-skew)) || !s.Completed.IsZero() && e.Time.After(s.Completed.Add(skew))
}
