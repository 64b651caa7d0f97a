package attribution

import "cmp"

// judgeClaim decides for a process without a way up to a session: at best a hint.
func (m *Machine) judgeClaim(a *Answer, t tree, own *ticket) {
	m.rest(m.loose(&a.Event))
	for _, c := range [...]*container{t.own, t.top} {
		if c != nil {
			m.rest(&c.loose)
		}
	}
	if t.open || t.stray {
		m.rest(&m.node(a.Event.Node).loose)
	}
	m.restTicket(own)
	m.restTicket(t.claim)
	claim, why := cmp.Or(own, t.claim), ReasonNoChain
	if claim == nil && !a.Event.claims() {
		claim, why = m.byLogin(&a.Event), ReasonLoginUID
		m.rest(&m.node(a.Event.Node).logins)
		m.restTicket(claim)
	}
	if claim == nil {
		a.unclaimed(t)
		return
	}
	s := claim.only()
	a.Claims = claim.claims()
	switch {
	case s != nil:
		a.AuditID = s.AuditID
	case claim.isAuditID():
		a.AuditID = claim.id
	}
	where := m.placeOf(&a.Event)
	switch {
	case t.mixed, t.claim != nil && !t.claim.is(claim):
		a.conclude(VerdictConflicting, ReasonTwoClaims)
	case claim.id == placeholder:
		a.conclude(VerdictPlaceholder, ReasonPlaceholder)
	case len(claim.requests) == 0:
		a.conclude(VerdictUnknown, m.absent(claim))
	case s == nil:
		a.conclude(VerdictConflicting, ReasonReused)
	case s.Refused():
		a.conclude(VerdictConflicting, ReasonRefused)
	case where.contradicts(s) != "":
		a.conclude(VerdictConflicting, where.contradicts(s))
	case m.before(s, &a.Event):
		a.conclude(VerdictConflicting, ReasonTime)
	case s.nameless():
		a.conclude(VerdictUnknown, ReasonNoUser)
		a.Claims = nil
	case m.lost.has(claim.id) || m.lost.has(s.AuditID):
		a.conclude(VerdictHint, ReasonEvicted)
	case t.edge:
		a.conclude(VerdictHint, ReasonEdge)
	default:
		a.conclude(VerdictHint, why)
	}
}

// loose returns what an answer without a session rests on: what else is known of its container.
func (m *Machine) loose(e *Event) *watchers {
	n := m.node(e.Node)
	if e.ContainerID != "" {
		if c := n.containers[shortID(e.ContainerID)]; c != nil {
			return &c.loose
		}
	}
	return &n.loose
}

// byLogin returns the ID of the one session on the node that has the event's login UID and may have begun by then.
func (m *Machine) byLogin(e *Event) (found *ticket) {
	if e.LoginUID == 0 {
		return nil
	}
	for _, r := range m.node(e.Node).byLogin[e.LoginUID] {
		t := r.primary()
		if t == nil || r.at.After(e.Time.Add(m.options.Skew)) {
			continue
		}
		if found.is(t) {
			continue
		}
		m.rest(&r.watchers) // and so it is not forgotten before the answer
		if found != nil {
			return nil
		}
		found = t
	}
	return found
}

// unclaimed decides where no ID is known: none was claimed, or its entry was evicted.
func (a *Answer) unclaimed(t tree) {
	a.AuditID = clip(a.Event.AuditID)
	switch {
	case a.Event.claims():
		a.conclude(VerdictUnknown, ReasonEvicted)
	case t.edge:
		a.conclude(VerdictUnknown, ReasonEdge)
	default:
		a.conclude(VerdictUnknown, ReasonNoID)
	}
}

// before reports whether an event is from before its claimed session, by clocks that differ as those of the sessions
// around it. What comes after the session's end may have been left behind by it.
func (m *Machine) before(s *Session, e *Event) bool {
	skew := m.options.Skew
	early := s.Received.Sub(e.Time)
	if early <= skew {
		return false
	}
	c := &m.node(e.Node).clock
	m.rest(&c.doubted)
	usual := c.usually(e.Time, skew)
	return usual.Ahead < -MaxSkew || early+usual.Ahead > skew
}
