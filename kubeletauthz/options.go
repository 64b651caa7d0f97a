package kubeletauthz

import "fmt"

// Gate is the setting of the KubeletFineGrainedAuthz feature gate.
type Gate uint8

// The settings of the gate.
const (
	GateDefault Gate = iota // as the version has it: off up to 1.32, on from 1.33
	GateOn                  // fine-grained subresources first, then proxy
	GateOff                 // proxy alone; refused from 1.36
)

// Options describe the kubelet whose requests are mapped. The zero value is the newest version with its default gate and
// upstream's verbs.
type Options struct {
	// Node is the node's name, copied into every attribute. Empty asks about all nodes, which rules restricted by
	// resourceNames do not allow.
	Node string
	// Minor is the kubelet's version; zero is NewestMinor.
	Minor Minor
	// Gate is the KubeletFineGrainedAuthz gate; zero is the version's default.
	Gate Gate
	// HardenedVerbs makes exec, attach, run and portForward ask for "create" whatever the method, and with them every
	// path that is not clean. Off is upstream's behaviour, where a WebSocket GET runs commands with "get nodes/proxy". On is
	// recommended wherever no client relies on that.
	HardenedVerbs bool
}

// New returns the mapping for a kubelet.
//
// It returns an error that wraps [ErrMinor] for a version it does not know, [ErrNoGate] when the gate is set before 1.32, and
// [ErrGateLocked] when it is off from 1.36. Source: KEP-2862, Design Details and Graduation Criteria.
func New(o Options) (Mapper, error) {
	if o.Minor == 0 {
		o.Minor = NewestMinor
	}
	switch {
	case !o.Minor.known():
		return Mapper{}, fmt.Errorf("version %q: %w", o.Minor, ErrMinor)
	case o.Gate != GateDefault && !o.Minor.HasGate():
		return Mapper{}, fmt.Errorf("version %q: %w", o.Minor, ErrNoGate)
	case o.Gate == GateOff && o.Minor.GateLocked():
		return Mapper{}, fmt.Errorf("version %q: %w", o.Minor, ErrGateLocked)
	}
	return Mapper{node: o.Node, has: o.features()}, nil
}

// features reads options that have been checked.
func (o Options) features() feature {
	var has feature
	if o.Gate == GateOn || o.Gate == GateDefault && o.Minor.FineGrainedByDefault() {
		has |= featureFine
	}
	if o.Minor >= betaMinor {
		has |= featureZpages
	}
	if o.Minor >= allocatedMinor {
		has |= featureAllocated
	}
	if o.HardenedVerbs {
		has |= featureHardened
	}
	return has
}
