package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/internal/flight"
)

var (
	errAbandoned = errors.New("nobody waits for the credential")
	errPanic     = errors.New("the last run panicked")
)

// join returns the run to wait for, or a snapshot or error that needs no waiting.
func (s *shared) join(ctx context.Context) (*flight.Call[*shared, *snapshot], *snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return nil, nil, ErrClosed
	}
	switch action, err := s.state.decide(s.pool.options.now()); action {
	case actionUse:
		return nil, s.last, nil
	case actionFail:
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, &flight.LeftError{Err: err}
	}
	call, _ := s.pool.flights.Join(ctx, s, s.flightOptions(s.config.InteractiveMode), s.fly(s.config.InteractiveMode))
	return call, nil, nil
}

// flightOptions detaches a run that cannot be interactive; any other finds out when it gets the terminal, or does not.
func (s *shared) flightOptions(mode execcredential.InteractiveMode) flight.Options {
	return flight.Options{Detached: mode == execcredential.InteractiveNever || s.config.StdinUnavailable || !s.pool.options.Terminal.exists()}
}

// fly returns one run with its landing. A run that panics, as a recorder of the caller might, counts as one that
// failed.
func (s *shared) fly(mode execcredential.InteractiveMode) func(*flight.Run) (*snapshot, error) {
	return func(run *flight.Run) (*snapshot, error) {
		returned := false
		defer func() {
			if !returned {
				_, _ = s.land(run, nil, errPanic)
			}
		}()
		credential, err := s.run(run, mode)
		returned = true
		return s.land(run, credential, err)
	}
}

// land takes the outcome of a run, unless nobody waited for it any more when it ended.
func (s *shared) land(run *flight.Run, credential *execcredential.Credential, err error) (snap *snapshot, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !run.Land() {
		return nil, errAbandoned
	}
	now := s.pool.options.now()
	if err == nil {
		s.state = s.state.succeeded(now, credential, rand.Float64())
		snap = s.publish(credential)
	} else {
		s.state = s.state.failed(now, err, rand.Float64())
	}
	s.schedule(now)
	return snap, err
}

// schedule plans the next proactive refresh. It is called with the lock held.
func (s *shared) schedule(now time.Time) {
	if !s.pool.options.Proactive || s.config.InteractiveMode == execcredential.InteractiveAlways {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	if due := s.state.refreshAt(); !due.IsZero() {
		s.timer = time.AfterFunc(due.Sub(now), s.refresh)
	}
}

// refresh runs the plugin for nobody in particular, so that nobody has to wait. It is never interactive.
func (s *shared) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired {
		s.pool.flights.Start(context.Background(), s, s.flightOptions(execcredential.InteractiveNever), s.fly(execcredential.InteractiveNever))
	}
}
