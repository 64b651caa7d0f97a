package attribution

import "time"

// Skew is how far a node's clock is ahead of the API servers', as sessions show that are certain: by the journal's one
// process and the audit log's one request of an ID.
type Skew struct {
	Node string
	// Ahead is negative for a clock that is behind. It includes what a session usually takes to start.
	Ahead time.Duration
	// Sessions is how many show it.
	Sessions int
}

// Skews returns the latest estimate of each node that has one, sorted by name. Where it is more than Options.Skew, times
// are compared by it.
func (m *Machine) Skews() []Skew {
	return nil
}
