package attribution

import "slices"

// watchers are the answers that rest on one piece of the state, and so may be revised when it changes.
type watchers struct {
	answers []*given
	dead    int // of answers, those that are final
	touched bool
}

// touch has the answers that rest on w judged again before the next are given.
func (m *Machine) touch(w *watchers) {
	if len(w.answers) > 0 && !w.touched {
		w.touched = true
		m.touched = append(m.touched, w)
	}
}

func (w *watchers) add(g *given) {
	w.answers = append(w.answers, g)
}

// leave notes that one of the answers is final. Those are let go of when they are half of all.
func (w *watchers) leave() {
	w.dead++
	if 2*w.dead >= len(w.answers) {
		w.compact()
	}
}

// compact lets go of final answers, and of room for four times as many as are left.
func (w *watchers) compact() {
	w.answers = slices.DeleteFunc(w.answers, func(g *given) bool { return g.final })
	w.dead = 0
	switch n := len(w.answers); {
	case n == 0:
		w.answers = nil
	case cap(w.answers) > 4*n:
		w.answers = slices.Clone(w.answers)
	}
}

// watched reports whether an answer that can be revised rests on w.
func (w *watchers) watched() bool {
	w.compact()
	return len(w.answers) > 0
}
