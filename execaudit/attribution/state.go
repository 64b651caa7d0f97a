package attribution

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/wire"
)

// StateVersion is the version of what Save writes, and the only one that Restore reads.
const StateVersion = 1

// stateName begins every saved state.
const stateName = "lanyard attribution state"

// ErrState is returned by Restore for what Save did not write: cut off, changed, or of another version.
var ErrState = errors.New("saved state")

// Save writes everything that the machine knows, so that one that Restore makes of it goes on as this one would: with
// the same answers, keys and revisions. It changes nothing. An open session takes about 400 bytes, and an answer that
// can be revised about 350. Its error is w's.
func (m *Machine) Save(w io.Writer) error {
	s := newSaving(w, m)
	s.Text(stateName)
	s.Uint(StateVersion)
	s.machine()
	s.nodes()
	s.list(len(s.containers.items), func(i int) { s.container(s.containers.items[i]) })
	s.list(len(s.sessions.items), func(i int) { s.session(s.sessions.items[i]) })
	s.list(len(s.tickets.items), func(i int) { s.ticket(s.tickets.items[i]) })
	s.list(len(s.marks.items), func(i int) { s.mark(s.marks.items[i]) })
	s.list(len(s.roots.items), func(i int) { s.root(s.roots.items[i]) })
	s.links()
	s.processes()
	s.waiting()
	s.answers()
	s.clocks()
	return s.Close()
}

// numbering gives each of what it is asked about a number from 1 on; 0 is nil.
type numbering[T comparable] struct {
	numbers map[T]int
	items   []T
}

func (n *numbering[T]) of(item T) uint64 {
	var none T
	if item == none {
		return 0
	}
	number, known := n.numbers[item]
	if !known {
		if n.numbers == nil {
			n.numbers = map[T]int{}
		}
		n.items = append(n.items, item)
		number = len(n.items)
		n.numbers[item] = number
	}
	return uint64(number)
}

// saving is one Save. What a list refers to is numbered before the list is written.
type saving struct {
	*wire.Writer
	m          *Machine
	names      []string
	alive      []*process
	containers numbering[*container]
	sessions   numbering[*Session]
	tickets    numbering[*ticket]
	marks      numbering[*mark]
	roots      numbering[*root]
	watched    map[*watchers]uint64
}

// newSaving numbers all that is alive, in the order in which it is to be forgotten, and then what only others hold.
func newSaving(w io.Writer, m *Machine) *saving {
	s := &saving{Writer: wire.NewWriter(w), m: m, names: slices.Sorted(maps.Keys(m.nodes))}
	for c := range m.agedContainers.all() {
		if !c.gone {
			s.containers.of(c)
		}
	}
	for t := range m.endedSessions.all() {
		if !t.gone {
			s.tickets.of(t)
		}
	}
	for k := range m.agedMarks.all() {
		if !k.gone {
			s.marks.of(k)
		}
	}
	for r := range m.agedRoots.all() {
		if !r.gone {
			s.roots.of(r)
		}
	}
	s.held()
	s.watched = map[*watchers]uint64{}
	for i, w := range subjects(s.nodeList(), s.containers.items, s.tickets.items, s.marks.items, s.roots.items) {
		s.watched[w] = uint64(i + 1)
	}
	return s
}

func (s *saving) nodeList() (nodes []*node) {
	for _, name := range s.names {
		nodes = append(nodes, s.nodeOf(name))
	}
	return nodes
}

// subjects returns what answers can rest on, in the order of what it is of.
func subjects(nodes []*node, containers []*container, tickets []*ticket, marks []*mark, roots []*root) (all []*watchers) {
	for _, n := range nodes {
		all = append(all, &n.loose, &n.logins, &n.clock.doubted)
	}
	for _, c := range containers {
		all = append(all, &c.loose)
	}
	for _, t := range tickets {
		all = append(all, &t.watchers)
	}
	for _, k := range marks {
		all = append(all, &k.watchers)
	}
	for _, r := range roots {
		all = append(all, &r.watchers)
	}
	return all
}

// held numbers what processes and answers hold, and then what those hold in turn.
func (s *saving) held() {
	for p := range s.m.agedProcesses.all() {
		if !p.gone {
			s.alive = append(s.alive, p)
			s.containers.of(p.container)
			s.tickets.of(p.claim)
			s.marks.of(p.mark)
			s.roots.of(p.found)
		}
	}
	for g := range s.m.given.all() {
		s.roots.of(g.tree.root)
		s.tickets.of(g.tree.claim)
		s.containers.of(g.tree.own)
		s.containers.of(g.tree.top)
		s.sessions.of(g.answer.Session)
		for _, claim := range g.answer.Claims {
			s.sessions.of(claim)
		}
	}
	for _, name := range s.names {
		marks := s.m.nodes[name].marks
		for _, key := range slices.SortedFunc(maps.Keys(marks), markKey.compare) {
			s.marks.of(marks[key])
		}
	}
	for i := 0; i < len(s.roots.items); i++ {
		r := s.roots.items[i]
		s.containers.of(r.container)
		s.tickets.of(r.ticket)
		s.tickets.of(r.session)
		s.marks.of(r.mark)
	}
	for _, k := range s.marks.items {
		s.roots.of(k.root)
	}
	s.forgotten()
	for _, t := range s.tickets.items {
		for _, request := range t.requests {
			s.sessions.of(request)
		}
	}
}

// forgotten names the nodes that were forgotten, of which something that is gone is still held.
func (s *saving) forgotten() {
	for _, c := range s.containers.items {
		s.names = append(s.names, c.node.name)
	}
	for _, k := range s.marks.items {
		s.names = append(s.names, k.node.name)
	}
	for _, r := range s.roots.items {
		s.names = append(s.names, r.node.name)
	}
	slices.Sort(s.names)
	s.names = slices.Compact(s.names)
}
