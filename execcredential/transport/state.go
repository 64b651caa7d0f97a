package transport

import (
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
)

// freeRefusals is how many credentials in a row a server may refuse before the plugin is given a pause. It is not one,
// because a server that is restarting may refuse two good credentials.
const freeRefusals = 5

// action is what to do with a request.
type action int

const (
	actionRun  action = iota // ask the plugin for a credential
	actionUse                // send the request with the credential at hand
	actionFail               // return the error at once, because the plugin is in its pause
)

// state is what is known of one configuration's credential. It is a value: each event returns the next state. The zero
// value has no credential and runs the plugin.
type state struct {
	backoff Backoff // how long the plugin is left alone after failures
	free    int     // how many refusals in a row bring no pause; zero is freeRefusals

	credential *execcredential.Credential // the last one, nil when there was none
	received   time.Time
	refused    bool
	failures   int // runs that failed, in a row
	refusals   int // credentials refused without one accepted in between
	stale      int // answers that had expired when they came, in a row
	pause      time.Time
	err        error
}

// decide returns what to do with a request at now. Before the end of a pause the credential is used when it is still
// valid and was not refused, or had expired when it came; else the action is actionFail with a *[BackoffError].
func (s state) decide(now time.Time) (action, error) {
	paused := now.Before(s.pause)
	switch {
	case s.credential != nil && !s.refused && (s.credential.ValidAt(now) || paused && s.stale > 0):
		return actionUse, nil
	case paused:
		return actionFail, &BackoffError{Until: s.pause, Failures: max(s.failures, s.refusals, s.stale), Err: s.err}
	}
	return actionRun, nil
}

// usableUntil returns the last moment at which decide says actionUse, for a state in which no further event happens.
// The zero time is never ending; ok is false when the credential is not to be used at all.
func (s state) usableUntil() (until time.Time, ok bool) {
	if s.credential == nil || s.refused {
		return time.Time{}, false
	}
	until = s.credential.Expires()
	if s.stale > 0 && until.Before(s.pause) {
		until = s.pause.Add(-1)
	}
	return until, true
}

// refreshAt returns when a proactive refresh is due: when 1% of the lifetime is left, but not before the pause ends nor
// sooner after the last answer than the first pause of the backoff, so that a plugin which repeats an old answer is not
// run in a loop. The zero time is never.
func (s state) refreshAt() time.Time {
	if s.credential == nil || s.refused || s.credential.Expires().IsZero() {
		return time.Time{}
	}
	due := lastPercent(s.credential, s.received)
	soonest := s.received.Add(s.backoff.Delay(1, 0))
	for _, bound := range []time.Time{soonest, s.pause} {
		if due.Before(bound) {
			due = bound
		}
	}
	return due
}

// lastPercent returns when 1% of the lifetime is left (KEP-541, the SLO on rotation). The lifetime of a token begins at
// received, that of a certificate at its NotBefore.
func lastPercent(credential *execcredential.Credential, received time.Time) time.Time {
	begin := received
	if certificate := credential.Certificate(); certificate != nil {
		begin = certificate.Leaf.NotBefore
	}
	expires := credential.Expires()
	return expires.Add(-max(expires.Sub(begin), 0) / 100)
}

// succeeded returns the state after a run that answered with credential. One that has already expired, as it looks to a
// client whose clock is ahead, is used during the pause that follows it: the plugin is not run for each request.
func (s state) succeeded(now time.Time, credential *execcredential.Credential, jitter float64) state {
	s.credential, s.received, s.refused = credential, now, false
	s.failures, s.err, s.pause = 0, nil, time.Time{}
	if credential.ValidAt(now) {
		s.stale = 0
		return s
	}
	s.stale++
	s.pause = now.Add(s.backoff.Delay(s.stale, jitter))
	return s
}

// failed returns the state after a run that failed with err.
func (s state) failed(now time.Time, err error, jitter float64) state {
	s.failures++
	s.stale = 0
	s.err = err
	s.pause = now.Add(s.backoff.Delay(s.failures, jitter))
	return s
}

// refuse returns the state after the server answered credential with 401. It counts once per credential, and only for
// the last one. Accepted says whether the server had taken the credential before; then the count of refusals in a row
// begins anew.
func (s state) refuse(now time.Time, credential *execcredential.Credential, accepted bool, jitter float64) state {
	if credential != s.credential || s.refused {
		return s
	}
	if accepted {
		s.refusals = 0
	}
	s.refusals++
	s.refused = true
	s.err = ErrRefused
	free := s.free
	if free <= 0 {
		free = freeRefusals
	}
	s.pause = now.Add(s.backoff.Delay(s.refusals-free, jitter))
	return s
}
