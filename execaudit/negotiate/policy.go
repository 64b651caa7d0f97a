package negotiate

import (
	"context"
	"errors"
	"time"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

const (
	// UnsupportedMetric is the counter that Recorder stands for.
	UnsupportedMetric = "kubelet_exec_envs_unsupported_total"
	// EventReason is the reason of the event that Recorder stands for; its type is Warning.
	EventReason = "ExecEnvsUnsupported"
	// DefaultEventInterval is how long after an event about a pod the next one
	// about it is held back.
	DefaultEventInterval = 10 * time.Minute
)

// ErrUnsupported is Admit's refusal.
var ErrUnsupported = errors.New("container runtime does not support exec environment variables " +
	"(ExecRequest.envs) and --require-exec-env-support is set")

// Pod names the pod of an exec session.
type Pod struct {
	// Namespace, Name and UID are the pod's.
	Namespace, Name, UID string
}

// Recorder records exec sessions whose environment the runtime will not
// inject. Implementations are safe for concurrent use.
type Recorder interface {
	// ExecEnvsUnsupported adds one to UnsupportedMetric.
	ExecEnvsUnsupported()
	// Event records a Warning event with EventReason on the pod.
	Event(ctx context.Context, pod Pod, message string)
}

// Options configures a Policy. The zero value is detect-and-warn and records nothing.
type Options struct {
	// RequireSupport is --require-exec-env-support: detect-and-deny.
	RequireSupport bool
	// Recorder counts and sends events; if nil, nothing is recorded.
	Recorder Recorder
	// EventInterval is the least time between two events about one pod; 0 means DefaultEventInterval.
	EventInterval time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Policy decides about exec sessions on runtimes without support. It is safe for
// concurrent use. Make one with New.
type Policy struct {
	options Options
	events  *limiter
}

// New returns a Policy.
func New(options Options) *Policy {
	if options.EventInterval == 0 {
		options.EventInterval = DefaultEventInterval
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Policy{options: options, events: newLimiter(options.EventInterval)}
}

// Admit decides about one exec session that would send envs, what Resolve
// returned, to a runtime that is supported or not (Supported). Without envs or
// with support it returns nil and records nothing. Else it counts the session,
// records an event unless the pod had one within the interval, and
// returns nil, or ErrUnsupported with RequireSupport.
//
// Source: KEP-6035, Silent Degradation.
func (p *Policy) Admit(ctx context.Context, supported bool, envs []envprecedence.Entry, pod Pod) error {
	if supported || len(envs) == 0 {
		return nil
	}
	p.record(ctx, pod)
	if p.options.RequireSupport {
		return ErrUnsupported
	}
	return nil
}

func (p *Policy) record(ctx context.Context, pod Pod) {
	if p.options.Recorder == nil {
		return
	}
	p.options.Recorder.ExecEnvsUnsupported()
	if p.events.allow(pod, p.options.Now()) {
		p.options.Recorder.Event(ctx, pod, p.message())
	}
}

func (p *Policy) message() string {
	if p.options.RequireSupport {
		return "exec refused: " + ErrUnsupported.Error()
	}
	return "container runtime ignores exec environment variables (ExecRequest.envs): " +
		"the session runs without them and without " + execaudit.AuditIDName
}
