package execcredential

import "time"

// FreeRefusals is how many credentials in a row a server may refuse before the plugin is given a pause. It is not one, because
// a server that is restarting may refuse two good credentials.
const FreeRefusals = 5

// Action is what to do with a request.
type Action int

// The three answers of [Login.Decide].
const (
	// Run asks the plugin for a credential.
	Run Action = iota
	// Use sends the request with the credential at hand.
	Use
	// Fail returns the error at once, because the plugin is in its pause.
	Fail
)

// Login is the state of one configuration's credential. It is a value: each event returns the next state. The zero value has no
// credential and runs the plugin.
type Login struct {
	// Backoff is how long the plugin is left alone after failures.
	Backoff Backoff
	// FreeRefusals is how many refusals in a row bring no pause; zero is the constant FreeRefusals.
	FreeRefusals int

	credential *Credential
	received   time.Time
	refused    bool
	failures   int // runs that failed, in a row
	refusals   int // credentials refused without one accepted in between
	stale      int // answers that had expired when they came, in a row
	pause      time.Time
	err        error
}

// Decide returns what to do with a request at now. Before the end of a pause the credential is used when it is still
// valid and was not refused, or had expired when it came; else the action is Fail with a *[BackoffError].
func (l Login) Decide(now time.Time) (Action, error) {
	paused := now.Before(l.pause)
	switch {
	case l.credential != nil && !l.refused && (l.credential.ValidAt(now) || paused && l.stale > 0):
		return Use, nil
	case paused:
		return Fail, &BackoffError{Until: l.pause, Failures: max(l.failures, l.refusals, l.stale), Err: l.err}
	}
	return Run, nil
}

// UsableUntil returns the last moment at which Decide says Use, for a state in which no further event happens. The zero
// time is never ending; ok is false when the credential is not to be used at all.
func (l Login) UsableUntil() (until time.Time, ok bool) {
	if l.credential == nil || l.refused {
		return time.Time{}, false
	}
	until = l.credential.Expires()
	if l.stale > 0 && until.Before(l.pause) {
		until = l.pause.Add(-1)
	}
	return until, true
}

// Credential returns the last credential, nil when there was none. Whether it may be used is what Decide says.
func (l Login) Credential() *Credential { return l.credential }

// Pause returns the end of the pause; a moment in the past, or the zero time, is none.
func (l Login) Pause() time.Time { return l.pause }

// RefreshAt returns when a proactive refresh is due: [Credential.RefreshAt], but not before the pause ends nor sooner after
// the last answer than the first pause of Backoff, so that a plugin which repeats an old answer is not run in a loop.
// The zero time is never.
func (l Login) RefreshAt() time.Time {
	if l.credential == nil || l.refused {
		return time.Time{}
	}
	due := l.credential.RefreshAt(l.received)
	if due.IsZero() {
		return due
	}
	soonest := l.received.Add(l.Backoff.Delay(1, 0))
	for _, bound := range []time.Time{soonest, l.pause} {
		if due.Before(bound) {
			due = bound
		}
	}
	return due
}

// Succeeded returns the state after a run that answered with credential. One that has already expired, as it looks to a client whose
// clock is ahead, is used during the pause that follows it: the plugin is not run for each request.
func (l Login) Succeeded(now time.Time, credential *Credential, jitter float64) Login {
	l.credential, l.received, l.refused = credential, now, false
	l.failures, l.err, l.pause = 0, nil, time.Time{}
	if credential.ValidAt(now) {
		l.stale = 0
		return l
	}
	l.stale++
	l.pause = now.Add(l.Backoff.Delay(l.stale, jitter))
	return l
}

// Failed returns the state after a run that failed with err.
func (l Login) Failed(now time.Time, err error, jitter float64) Login {
	l.failures++
	l.stale = 0
	l.err = err
	l.pause = now.Add(l.Backoff.Delay(l.failures, jitter))
	return l
}

// Refused returns the state after the server answered credential with 401. It counts once per credential, and only for the
// last one. Accepted says whether the server had taken the credential before; then the count of refusals in a row begins anew.
func (l Login) Refused(now time.Time, credential *Credential, accepted bool, jitter float64) Login {
	if credential != l.credential || l.refused {
		return l
	}
	if accepted {
		l.refusals = 0
	}
	l.refusals++
	l.refused = true
	l.err = ErrRefused
	free := l.FreeRefusals
	if free <= 0 {
		free = FreeRefusals
	}
	l.pause = now.Add(l.Backoff.Delay(l.refusals-free, jitter))
	return l
}
