package attribution

import "slices"

// watchers are the answers that rest on one piece of the state, and so may be revised when it changes.
type watchers struct {
	answers []*given
	touched bool
}

// touch has the answers that rest on w judged again before the next are given.
func (m *Machine) touch(w *watchers) {
	if len(w.answers) > 0 && !w.touched {
		w.touched = true
		m.touched = append(m.touched, w)
	}
}

// add makes room, where it has to, by letting go of final answers.
func (w *watchers) add(g *given) {
	if len(w.answers) == cap(w.answers) {
		w.compact()
	}
	w.answers = append(w.answers, g)
}

func (w *watchers) compact() {
	w.answers = slices.DeleteFunc(w.answers, func(g *given) bool { return g.final })
}

// watched reports whether an answer that can be revised rests on w.
func (w *watchers) watched() bool {
	w.compact()
	return len(w.answers) > 0
}
