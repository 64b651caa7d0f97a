package readiness

import (
	"slices"
	"time"
)

// Margin is by how much a pod must be younger than the wrapper. The kubelet writes times in whole seconds, rounded
// down, and the daemon's clock and the kubelet's are the same one, which may be corrected in between.
const Margin = 2 * time.Second

// Lease is a node's Lease.
type Lease struct {
	Readiness Readiness
	// Renewed and Duration are the Lease's renewTime and leaseDurationSeconds.
	Renewed  time.Time
	Duration time.Duration
}

// Container is what is known of the container of an exec.
type Container struct {
	// Handler is that of the pod's runtime class, [DefaultHandler] without one.
	Handler string
	// PodStarted is the pod's status.startTime: its sandbox is younger. The zero time is unknown.
	PodStarted time.Time
	// Started is when the running container started. The zero time is unknown. It is looked at as well, since the
	// kubelet gives a static pod a new start time when its mirror pod was deleted.
	Started time.Time
}

// Covers returns the first of the keys that the node has, or why no token may be signed for the container: an error
// that is [ErrNoLease], [ErrStale], [ErrAhead], [ErrInactive], [ErrOlder] or [ErrNoKey], looked for in this order. A nil
// Lease is none.
//
// The keys are IDs of those that the caller can sign with, the one it prefers first: during a rotation that is the
// newest, and nodes that do not have it yet get the one before.
func (l *Lease) Covers(c Container, keys []string, now time.Time) (key string, err error) {
	switch {
	case l == nil:
		return "", ErrNoLease
	case !now.Before(l.Renewed.Add(l.Duration)):
		return "", ErrStale
	case l.Renewed.After(now.Add(l.Duration)):
		return "", ErrAhead
	}
	handler, ok := l.Readiness.Handlers[c.Handler]
	if !ok {
		return "", ErrInactive
	}
	if handler.Mode != ModeBind && !(handler.reached(c.PodStarted) && handler.reached(c.Started)) {
		return "", ErrOlder
	}
	for _, key := range keys {
		if slices.Contains(l.Readiness.Keys, key) {
			return key, nil
		}
	}
	return "", ErrNoKey
}

// reached reports whether what began then began under the wrapper.
func (h Handler) reached(then time.Time) bool { return !then.Before(h.Since.Add(Margin)) }
