package attribution

import (
	"slices"
	"time"
)

// forget lets go of what has been over for Linger.
func (m *Machine) forget() {
	over, ahead := m.now.Add(-m.options.Window).Add(-m.options.Linger), m.now.Add(m.options.Linger)
	m.exited.forget(over, ahead,
		func(p *process) time.Time { return p.exit },
		func(p *process) bool { m.drop(p); return false })
	m.idle.forget(over, ahead,
		func(p *process) time.Time { return alive(p.gone, p.asked) },
		func(p *process) bool { return !m.retireIdle(p, over) })
	m.endedSessions.forget(over, m.now, func(t *ticket) bool { return !m.retire(t) })
	m.agedRoots.forget(over, m.now, func(r *root) bool { return !m.retireRoot(r) })
	m.agedMarks.forget(over, m.now, func(k *mark) bool { return !m.retireMark(k) })
	m.agedContainers.forget(over, m.now, func(c *container) bool { return !m.retireContainer(c) })
}

// alive returns t, and the zero time for what is gone: long ago.
func alive(gone bool, t time.Time) time.Time {
	if gone {
		return time.Time{}
	}
	return t
}

// retire reports whether a ticket is gone for good; one that is in use is asked about again later.
func (m *Machine) retire(t *ticket) bool {
	if t.gone {
		return true
	}
	if len(t.roots) > 0 || t.watched() || slices.ContainsFunc(t.requests, (*Session).open) {
		t.last = m.now
		return false
	}
	m.dropTicket(t)
	return true
}

// open reports whether more may come of a request.
func (s *Session) open() bool {
	return s.Completed.IsZero() && !s.Refused()
}

func (m *Machine) retireRoot(r *root) bool {
	if r.gone {
		return true
	}
	if r.live > 0 || r.end.IsZero() || r.mark != nil && r.mark.live > 0 || r.watched() {
		r.asked = m.now
		return false
	}
	m.closeRoot(r)
	return true
}

func (m *Machine) retireMark(k *mark) bool {
	switch {
	case k.gone:
	case k.held > 0:
		k.queued = false // until its sessions are gone
	case k.live > 0 || k.watched():
		k.last = m.now
		return false
	default:
		m.dropMark(k)
	}
	return true
}

// retireContainer keeps one for as long as a session of it is known, which knows its name.
func (m *Machine) retireContainer(c *container) bool {
	if len(c.roots) > 0 || c.loose.watched() {
		c.last = m.now
		return false
	}
	m.dropContainer(c)
	return true
}

func (m *Machine) dropContainer(c *container) {
	c.gone = true
	delete(c.node.containers, c.id)
	m.house(-c.bytes())
}

// retireIdle reports whether a process is gone, or no longer idle.
func (m *Machine) retireIdle(p *process, over time.Time) bool {
	switch {
	case p.gone:
	case !p.idling():
		p.idle = false
	case !p.last.Before(over):
		p.asked = p.last
		return false
	default:
		m.drop(p)
	}
	return true
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
