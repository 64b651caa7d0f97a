//go:build linux

package theatre

import (
	"errors"
	"sync"
)

// Cues are called as a session plays, with the number of its plan. Each may be nil; sessions call them side by side.
type Cues struct {
	// Marked: the starter has its mark, and nothing of the session has begun. Here its intent is written.
	Marked func(i int, s *Session) error
	// Begun: the first process is known. Here its start is written.
	Begun func(i int, s *Session) error
	// Ended: all of the session's processes are gone.
	Ended func(i int, s *Session) error
}

// Play has the sessions of all plans play, so many at once, and returns them in the order of their plans.
func (s *Stage) Play(plans []Plan, atOnce int, cues Cues) ([]*Session, error) {
	sessions, errs := make([]*Session, len(plans)), make([]error, len(plans))
	room := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for i := range plans {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			sessions[i], errs[i] = s.play(i, plans[i], cues)
		})
	}
	wait.Wait()
	return sessions, errors.Join(errs...)
}

func (s *Stage) play(i int, p Plan, cues Cues) (*Session, error) {
	session, err := s.Start(p)
	if err != nil {
		return nil, err
	}
	if err := call(cues.Marked, i, session); err != nil {
		return session, errors.Join(err, session.Stop())
	}
	if err := session.Go(); err != nil {
		return session, errors.Join(err, session.Wait())
	}
	return session, errors.Join(call(cues.Begun, i, session), session.Wait(), call(cues.Ended, i, session))
}

func call(cue func(int, *Session) error, i int, s *Session) error {
	if cue == nil {
		return nil
	}
	return cue(i, s)
}
