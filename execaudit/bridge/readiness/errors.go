package readiness

import "errors"

// Why a container is not covered.
var (
	// ErrNoLease: there is no Lease of the node's daemon.
	ErrNoLease = errors.New("the node has no lease")
	// ErrStale: the daemon has not renewed the Lease within its duration.
	ErrStale = errors.New("the node's lease is stale")
	// ErrAhead: the Lease was renewed in the future by more than its duration. The node would refuse every token as
	// expired.
	ErrAhead = errors.New("the node's clock is ahead")
	// ErrNoKey: the node has none of the keys that were asked for.
	ErrNoKey = errors.New("the node has no key of the webhook")
	// ErrInactive: the wrapper is not active for the container's runtime handler.
	ErrInactive = errors.New("the wrapper is not active for the runtime handler")
	// ErrOlder: the container, or its pod, is not known to be younger than the wrapper.
	ErrOlder = errors.New("the container is older than the wrapper")
)

// ErrMalformed: an annotation cannot be read.
var ErrMalformed = errors.New("malformed readiness")

// Fault is an annotation that cannot be read. It unwraps to [ErrMalformed].
type Fault struct {
	// Annotation is its name.
	Annotation string
	// Problem is the broken rule.
	Problem string
}

// Error names the annotation and the rule.
func (f *Fault) Error() string { return "annotation " + f.Annotation + ": " + f.Problem }

// Unwrap returns [ErrMalformed].
func (f *Fault) Unwrap() error { return ErrMalformed }
