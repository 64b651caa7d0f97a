package world

import (
	"iter"
	"math/rand/v2"
	"time"
)

// World is a cluster, its adversary and the time.
type World struct {
	settings Settings
	random   *rand.Rand
	now      time.Duration // since Dawn, by no one's clock
	nodes    []*node
	servers  []*apiserver
	mail     mail
	recent   []past
	moves    [moves]int

	events, requests, sessions, tasks, images, boots, containers int
}

// past is a session that has begun.
type past struct {
	auditID   string
	container *container
}

const maxRecent = 64

// New draws a world. It costs memory for what is under way, not for what was.
func New(s Settings) *World {
	w := &World{settings: s, random: rand.New(rand.NewPCG(s.Seed, 19)), now: time.Hour}
	for range 3 {
		server := &apiserver{}
		if s.Skewed {
			server.offset = w.around(3 * time.Second)
		}
		w.servers = append(w.servers, server)
	}
	for i, kind := range s.Nodes {
		w.nodes = append(w.nodes, newNode(w, i, kind))
	}
	return w
}

// Pieces yields all evidence in the order in which it arrives, once.
func (w *World) Pieces() iter.Seq[*Piece] {
	return func(yield func(*Piece) bool) {
		for w.events < w.settings.Events {
			w.step()
			for w.mail.due(w.now) {
				if !yield(w.mail.pop()) {
					return
				}
			}
		}
		for w.mail.Len() > 0 {
			if !yield(w.mail.pop()) {
				return
			}
		}
	}
}

// Moves returns how often the adversary, and chance, did what.
func (w *World) Moves() map[string]int {
	counts := map[string]int{}
	for m, n := range w.moves {
		counts[move(m).String()] = n
	}
	return counts
}

// pause is how long a node is quiet at most, on the average of nodes.
const pause = 20 * time.Second

// step lets something happen on a node, soon after what was before.
func (w *World) step() {
	n := w.nodes[w.random.IntN(len(w.nodes))]
	w.now += time.Duration(w.random.Int64N(int64(pause) / int64(len(w.nodes))))
	for range 1 + w.random.IntN(4) {
		w.now += time.Duration(20+w.random.IntN(4000)) * time.Microsecond
		n.act()
	}
	for _, n := range w.nodes {
		n.runtime()
	}
}

// around returns a duration of either sign up to limit.
func (w *World) around(limit time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(2*limit))) - limit
}

// soon is how late evidence is that comes in time.
func (w *World) soon() time.Duration {
	if w.chance(3, 4) {
		return time.Duration(w.random.Int64N(int64(time.Second)))
	}
	return time.Duration(w.random.Int64N(int64(10 * time.Second)))
}

// delay is how long a runtime takes for a phase: mostly milliseconds.
func (w *World) delay() time.Duration {
	if w.chance(9, 10) {
		return time.Duration(w.random.Int64N(int64(20 * time.Millisecond)))
	}
	return time.Duration(w.random.Int64N(int64(2 * time.Second)))
}

func (w *World) chance(n, of int) bool { return w.random.IntN(of) < n }

func (w *World) image() int {
	w.images++
	return w.images
}

// started remembers a session whose ID others may take.
func (w *World) started(s *session) {
	if s.env.auditID == "" || s.env.auditID == placeholder {
		return
	}
	if len(w.recent) == maxRecent {
		w.recent = append(w.recent[:0], w.recent[1:]...)
	}
	w.recent = append(w.recent, past{s.env.auditID, s.container})
}
