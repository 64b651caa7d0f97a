package shim

import "sync"

// starters are the connections that may still start a process, or whose process runs.
type starters struct {
	mu   sync.Mutex
	left map[chan struct{}]bool
}

// enter adds one; it is done when leave is called, which may be called again.
func (s *starters) enter() (leave func()) {
	done := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		s.left = map[chan struct{}]bool{}
	}
	s.left[done] = true
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.left, done)
		close(done)
	})
}

// await returns when those are done that are there now.
func (s *starters) await() {
	s.mu.Lock()
	var now []chan struct{}
	for done := range s.left {
		now = append(now, done)
	}
	s.mu.Unlock()
	for _, done := range now {
		<-done
	}
}
