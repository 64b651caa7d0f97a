package attribution

// maxDepth bounds a climb; what is deeper has no root.
const maxDepth = 4096

// tree is what the ancestors of a process say.
type tree struct {
	root  *root
	claim *ticket // the nearest claim below the root
	mixed bool    // claims below the root differ
	// weak says that a process on the way is not identified for certain.
	weak bool
	// byMark says that an ancestor's mark showed the root, not its being the first process.
	byMark bool
	// torn says that the journal has the process that showed the root for one session, and its mark for another.
	torn bool
	// stray says that the container of a process on the way is not known.
	stray bool
	// edge says that the way up ends where it leads out of the container.
	edge bool
	// own is the process's container, and top the last one on the way up.
	own, top *container
	// open says that the way up ends at a parent of which nothing is known, or steps over it.
	open bool
}

// empty reports whether there is nothing above, and no doubt about that.
func (t *tree) empty() bool {
	return t.root == nil && t.claim == nil && !t.edge
}

// tree returns what is above an event's process. Where the process is not identified for certain, a journal may still
// say that the event's own number was its session's at that time.
func (m *Machine) tree(e *Event, p *process) tree {
	if p == nil || !p.certain {
		if r := m.holder(e); r != nil {
			return tree{root: r}
		}
	}
	if p == nil {
		return tree{}
	}
	return m.climb(p)
}

func (m *Machine) holder(e *Event) *root {
	n := m.nodes[e.Node]
	if n == nil || e.ContainerID == "" || len(n.byPID[e.Process.PID]) == 0 {
		return nil
	}
	return n.holder(sighting{process: Process{PID: e.Process.PID}, container: n.containers[shortID(e.ContainerID)], at: e.Time})
}

// climb follows parents up to a session's first process. A link out of a container is no evidence of anything: a
// session that restarts a daemon is above every container that the daemon starts, and above every session in its own.
func (m *Machine) climb(p *process) tree {
	t, start := tree{own: p.container}, p
	for depth := 0; p != nil && depth < maxDepth; depth++ {
		p.climbed = true
		if p.known(&t) {
			t.edge = t.edge || start.container.apart(t.root.container) && start != p
			if t.edge {
				t.root = nil
				return t
			}
			m.remember(start, p, t)
			return t
		}
		t.weak = t.weak || !p.certain
		t.observe(p)
		if p.outside && p.container != nil {
			return t
		}
		above := m.above(p)
		t.open = t.open || p.parent != (processKey{}) && (above == nil || above.key != p.parent)
		if above != nil && above.container.apart(p.container) {
			t.edge, t.top = true, above.container
			return t
		}
		p = above
	}
	return t
}

// known fills in the session whose first process p is, or whose mark it has, and reports whether there is one.
func (p *process) known(t *tree) bool {
	if p.found != nil {
		t.root = p.found
		return true
	}
	first, marked := p.node.find(p.sighting()), p.mark.anchor()
	switch {
	case first == nil && marked == nil:
		return false
	case first == nil:
		t.root, t.byMark = marked, true
	default:
		t.root, t.torn = first, marked != nil && marked != first
	}
	t.weak = t.weak || !p.certain
	return true
}

func (t *tree) observe(p *process) {
	switch {
	case p.claim == nil:
	case t.claim == nil:
		t.claim = p.claim
	case !t.claim.is(p.claim):
		t.mixed = true
	}
	t.mixed = t.mixed || p.mixed
	if p.container != nil {
		t.top = p.container
	}
	t.stray = t.stray || p.container == nil
}

// forgets reports whether a way up that ends at an unknown parent lacks what an earlier look at it showed: an ancestor
// was let go of meanwhile, which is no news.
func (t *tree) forgets(before *tree) bool {
	if !t.open || t.root != nil || before.byMark || before.torn {
		return false // a mark may turn out not to be the session's own
	}
	return before.root != nil || before.claim != nil && t.claim == nil || before.mixed && !t.mixed
}

// above returns the next known ancestor. A parent that only its children's events tell of is stepped over.
func (m *Machine) above(p *process) *process {
	if p.parent == (processKey{}) {
		return nil
	}
	if parent := p.node.processes[p.parent]; parent != nil {
		return parent
	}
	if p.grandparent == (processKey{}) {
		return nil
	}
	return p.node.processes[p.grandparent]
}

// remember spares the next climb the way, and lets ancestors be forgotten. What rests on a mark, or on a process that
// is not identified for certain, is asked for again each time: later evidence may say otherwise.
func (m *Machine) remember(from, to *process, t tree) {
	if t.byMark || t.torn || t.weak {
		return
	}
	var way [16]*process
	path := way[:0]
	for p := from; ; p = m.above(p) {
		path = append(path, p)
		if p == to {
			break
		}
	}
	for _, p := range path {
		if p.found == nil {
			p.found = t.root
			t.root.live++
		}
	}
}
