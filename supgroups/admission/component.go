package admission

import "fmt"

// GateName is the feature gate of the API server and the kubelet.
const GateName = "SupplementalGroupsPolicy"

// Gate is the setting of the SupplementalGroupsPolicy feature gate.
type Gate uint8

// The settings of the gate.
const (
	GateDefault Gate = iota // as the version has it: off before 1.33, on from then
	GateOn                  // refused before 1.31
	GateOff                 // refused before 1.31 and from 1.35
)

// Component is an API server or a kubelet: its version, and whether its gate is on. Only valid states can be made. The
// zero value is MinorNewest with its default gate.
type Component struct {
	minor Minor // 0 is MinorNewest
	gate  Gate
}

// NewComponent returns a component of Kubernetes 1.minor with its gate set. Minor 0 is MinorNewest; a newer one behaves
// as MinorNewest does, see [Minor.Known]; one before MinorAlpha does not know the policy, and drops it.
//
// Its errors are start-up errors of the component: ErrMinor for a negative minor, ErrNoGate for GateOn and GateOff
// before MinorAlpha, ErrGateLocked for GateOff from MinorGA. Source: KEP-3619, Graduation Criteria.
func NewComponent(minor Minor, gate Gate) (Component, error) {
	c := Component{minor: minor, gate: gate}
	switch known := c.known(); {
	case minor < 0:
		return Component{}, fmt.Errorf("%w: %d", ErrMinor, int(minor))
	case gate != GateDefault && known < MinorAlpha:
		return Component{}, fmt.Errorf("version %q: %w", minor, ErrNoGate)
	case gate >= GateOff && known >= MinorGA:
		return Component{}, fmt.Errorf("version %q: %w", c.Minor(), ErrGateLocked)
	}
	return c, nil
}

// Minor returns the version as it was given, MinorNewest for 0. It can be newer than MinorNewest.
func (c Component) Minor() Minor {
	if c.minor == 0 {
		return MinorNewest
	}
	return c.minor
}

// Enabled reports whether the gate is on.
func (c Component) Enabled() bool {
	return c.gate == GateOn || c.gate == GateDefault && c.known() >= MinorBeta
}

// known is the version whose rules apply.
func (c Component) known() Minor {
	known, _ := c.Minor().Known()
	return known
}
