package admission

import (
	"errors"
	"fmt"
)

// GateName is the feature gate of the API server and the kubelet.
const GateName = "SupplementalGroupsPolicy"

// Minor versions of Kubernetes 1.x in which the gate's maturity changed.
const (
	AlphaMinor = 31
	BetaMinor  = 33
	GAMinor    = 35
)

var (
	// ErrGateUnknown means that the gate was set in a version that has none.
	ErrGateUnknown = errors.New("feature gate is unknown")
	// ErrGateLocked means that the gate was set false where it is locked to true.
	ErrGateLocked = errors.New("feature gate is locked to true")
)

// Gate is the state of the feature gate in one component: its minor version and whether it is on. Only valid states can
// be made. The zero Gate is a version that does not know the field.
type Gate struct {
	minor   int
	enabled bool
}

// DefaultGate returns the gate as Kubernetes 1.minor has it unless told otherwise: off in alpha, on from beta.
func DefaultGate(minor int) Gate {
	return Gate{minor: minor, enabled: minor >= BetaMinor}
}

// NewGate returns the gate of Kubernetes 1.minor set by hand. Its errors are start-up errors of the component:
// ErrGateUnknown below AlphaMinor, ErrGateLocked for false from GAMinor on.
func NewGate(minor int, enabled bool) (Gate, error) {
	if minor < AlphaMinor {
		return Gate{}, fmt.Errorf("%w: %s in 1.%d", ErrGateUnknown, GateName, minor)
	}
	if minor >= GAMinor && !enabled {
		return Gate{}, fmt.Errorf("%w: %s in 1.%d", ErrGateLocked, GateName, minor)
	}
	return Gate{minor: minor, enabled: enabled}, nil
}

// Minor returns the minor version.
func (g Gate) Minor() int { return g.minor }

// Enabled reports whether the gate is on.
func (g Gate) Enabled() bool { return g.enabled }
