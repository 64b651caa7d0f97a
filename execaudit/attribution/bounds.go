package attribution

// What one entry of the state costs in bytes, besides its text: the struct, its place in a map and in a queue.
const (
	sessionBytes   = 560
	ticketBytes    = 192
	rootBytes      = 720
	endedBytes     = 64
	markBytes      = 224
	sampleBytes    = 96
	givenBytes     = 800
	processBytes   = 384
	containerBytes = 208
	nodeBytes      = 1200
	eventBytes     = 432
)

func (m *Machine) grow(n int) {
	m.stats.Bytes += n
}

// used notes that an answer was given about a process, which may have been the last use of it.
func (m *Machine) used(e *Event, p *process) {
	if p.gone {
		return
	}
	p.last = latest(p.last, e.Time)
	switch {
	case e.Kind == KindExit:
		m.exited.push(p)
	case !p.idle && p.idling():
		p.idle, p.asked = true, p.last
		m.idle.push(p)
	}
}

// idling reports whether nothing is known of a process that would be of use to its descendants: they have no session
// either, unless evidence that is still to come says so.
func (p *process) idling() bool {
	return p.found == nil && p.claim == nil && p.mark.anchor() == nil
}

// evictIdle lets go of a process of which no answer has come. It is not counted: only evidence that is late could have
// had a use for it.
func (m *Machine) evictIdle() bool {
	for p, ok := m.idle.pop(); ok; p, ok = m.idle.pop() {
		p.idle = false
		if !p.gone && p.idling() {
			m.drop(p)
			return true
		}
	}
	return false
}

// idleShare is which share of the bound idle processes may take.
const idleShare = 4

// shrink evicts until the state is within its bound: first what is over anyway, then the oldest of whatever takes most.
func (m *Machine) shrink() {
	for m.idle.len()*processBytes > m.options.MaxBytes/idleShare && m.evictIdle() {
	}
	for m.stats.Bytes > m.options.MaxBytes && m.evict() {
	}
	m.stats.PeakBytes = max(m.stats.PeakBytes, m.stats.Bytes)
}

func (m *Machine) evict() bool {
	if m.evictIdle() {
		return true
	}
	if m.given.count > 0 {
		m.stats.EvictedAnswers += m.finishOldest()
		return true
	}
	if p, ok := m.exited.pop(); ok {
		m.evictProcess(p)
		return true
	}
	waiting, running := m.pending.bytes, m.running*processBytes
	sessions := m.stats.Bytes - waiting - running - m.housed
	switch {
	case m.evictNode():
	case m.housed >= max(waiting, running, sessions) && m.evictContainer():
	case waiting >= max(running, sessions) && m.evictWaiting():
	case running >= sessions && m.evictRunning():
	case m.evictMark(), m.evictSession(), m.evictRoot():
	default:
		return m.evictRunning() || m.evictWaiting() || m.evictContainer() || m.evictSamples()
	}
	return true
}

// evictSamples forgets what is known of all clocks.
func (m *Machine) evictSamples() bool {
	evicted := 0
	for _, n := range m.nodes {
		evicted += len(n.clock.samples)
		n.clock.samples = nil
	}
	m.grow(-evicted * sampleBytes)
	return evicted > 0
}

// evictWaiting answers events early: first what is far ahead of now, by a wrong clock, and would wait longest.
func (m *Machine) evictWaiting() bool {
	if m.pending.count == 0 {
		return false
	}
	if !m.now.IsZero() {
		if b := m.pending.popAfter(m.now.Add(m.options.Linger)); b != nil {
			m.settleAll(b, true)
			return true
		}
	}
	m.settleOldest(true)
	return true
}

func (m *Machine) evictRunning() bool {
	p, ok := m.agedProcesses.pop()
	m.evictProcess(p)
	return ok
}

// evictMark evicts one that no session has.
func (m *Machine) evictMark() bool {
	for k, ok := m.agedMarks.pop(); ok; k, ok = m.agedMarks.pop() {
		k.queued = false
		if !k.gone && k.held == 0 {
			m.dropMark(k)
			return true
		}
	}
	return false
}

func (m *Machine) evictProcess(p *process) {
	if p != nil && !p.gone {
		m.drop(p)
		m.stats.EvictedProcesses++
	}
}

func (m *Machine) evictSession() bool {
	t, ok := m.endedSessions.pop()
	if ok && !t.gone {
		m.lost.add(t.id)
		for _, s := range t.requests {
			m.lost.add(s.AuditID)
		}
		m.dropTicket(t)
		m.stats.EvictedSessions++
	}
	return ok
}

func (m *Machine) evictRoot() bool {
	r, ok := m.agedRoots.pop()
	if ok && !r.gone {
		if t := r.primary(); t != nil {
			m.lost.add(t.id)
		}
		m.closeRoot(r)
		m.stats.EvictedSessions++
	}
	return ok
}

func (m *Machine) drop(p *process) {
	if p.gone {
		return
	}
	delete(p.node.processes, p.key)
	m.running--
	m.grow(-processBytes)
	if p.found != nil {
		p.found.live--
	}
	if p.mark != nil {
		p.mark.live--
	}
	*p = process{key: p.key, node: p.node, gone: true} // a queue may hold it for long
}

func (m *Machine) dropTicket(t *ticket) {
	if t.gone {
		return
	}
	t.gone = true
	delete(m.tickets, t.id)
	m.grow(-t.bytes())
	t.requests = nil // roots may still point here
}

// bytes counts a request by its audit ID alone, whatever other IDs it is found by.
func (t *ticket) bytes() int {
	n := ticketBytes + len(t.id)
	for _, s := range t.requests {
		if clip(s.AuditID) == t.id {
			n += s.bytes()
		}
	}
	for _, e := range t.ended {
		n += endedBytes + len(e.key.execID)
	}
	return n
}
