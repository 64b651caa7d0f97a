package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
)

// flight is one run of the plugin and those who wait for it. Its counters are guarded by the source's lock.
type flight struct {
	done      chan struct{} // closed when snap and err are set
	cancel    context.CancelCauseFunc
	waiters   int
	abandoned bool // nobody waits: its failure tells nothing about the plugin
	snap      *snapshot
	err       error
}

var errAbandoned = errors.New("nobody waits for the credential")

// join returns the flight to wait for, or a snapshot or error that needs no waiting.
func (s *shared) join() (*flight, *snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return nil, nil, ErrClosed
	}
	switch action, err := s.login.Decide(s.pool.options.now()); action {
	case execcredential.Use:
		return nil, s.last, nil
	case execcredential.Fail:
		return nil, nil, err
	}
	if s.flight == nil {
		s.flight = s.launch(s.config.InteractiveMode)
	}
	s.flight.waiters++
	return s.flight, nil, nil
}

// launch starts a run. It is called with the lock held.
func (s *shared) launch(mode execcredential.InteractiveMode) *flight {
	ctx, cancel := context.WithCancelCause(s.pool.ctx)
	f := &flight{done: make(chan struct{}), cancel: cancel}
	s.pool.runs.Add(1)
	go func() {
		defer s.pool.runs.Done()
		credential, err := s.run(ctx, mode)
		cancel(nil)
		s.land(f, credential, err)
	}()
	return f
}

// land takes the outcome of a flight and tells those who wait.
func (s *shared) land(f *flight, credential *execcredential.Credential, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(f.done)
	if s.flight == f {
		s.flight = nil
	}
	now := s.pool.options.now()
	switch {
	case s.retired:
		f.err = ErrClosed
		return
	case err == nil:
		s.login = s.login.Succeeded(now, credential, rand.Float64())
		f.snap = s.publish(credential)
	case f.abandoned:
		return
	default:
		s.login = s.login.Failed(now, err, rand.Float64())
		f.err = err
	}
	s.schedule(now)
}

// wait returns the flight's outcome, or leaves it when ctx ends.
func (s *shared) wait(ctx context.Context, f *flight) (*snapshot, error) {
	begin := time.Now()
	select {
	case <-f.done:
	case <-ctx.Done():
		s.abandon(f)
		return nil, &WaitError{Command: s.config.Command, Waited: time.Since(begin), Err: ctx.Err()}
	}
	if f.err != nil {
		return nil, s.explained(f.err)
	}
	return f.snap, nil
}

// abandon takes one waiter away, and cancels the run with the last. Whoever comes next starts a run of their own.
func (s *shared) abandon(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.waiters--
	if f.waiters > 0 {
		return
	}
	f.abandoned = true
	f.cancel(errAbandoned)
	if s.flight == f {
		s.flight = nil
	}
}

// schedule plans the next proactive refresh. It is called with the lock held.
func (s *shared) schedule(now time.Time) {
	if !s.pool.options.Proactive || s.config.InteractiveMode == execcredential.Always {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	if due := s.login.RefreshAt(); !due.IsZero() {
		s.timer = time.AfterFunc(due.Sub(now), s.refresh)
	}
}

// refresh runs the plugin for nobody in particular, so that nobody has to wait. It is never interactive.
func (s *shared) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired || s.flight != nil {
		return
	}
	s.flight = s.launch(execcredential.Never)
	s.flight.waiters++ // the refresh itself, which does not leave
}
