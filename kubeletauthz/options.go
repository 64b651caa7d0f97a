package kubeletauthz

import "fmt"

// Gate is the setting of the KubeletFineGrainedAuthz feature gate.
type Gate uint8

// The settings of the gate.
const (
	GateDefault Gate = iota // the version's default: off up to 1.32, on from 1.33
	GateOn                  // fine-grained subresources first, then proxy; refused for 1.31
	GateOff                 // proxy alone; refused for 1.31 and from 1.36
)

// Options describe the kubelet whose requests are mapped. The zero value is the newest known version with its default
// gate and upstream's verbs.
type Options struct {
	// Node is the node's name, copied into every attribute. Empty asks about all nodes, which rules restricted by
	// resourceNames do not allow.
	Node string
	// Minor is the kubelet's version; zero is MinorNewest, and a newer one is treated as MinorNewest.
	Minor Minor
	// Gate is the KubeletFineGrainedAuthz gate; zero is the version's default.
	Gate Gate
	// HardenedVerbs makes exec, attach, run and portForward ask for "create" whatever the method, and with them every
	// path that is not clean. Off is upstream's behaviour, where a WebSocket GET runs commands with "get nodes/proxy".
	// On is recommended wherever no client relies on that.
	HardenedVerbs bool
}

// New returns the mapping for a kubelet.
//
// It returns an error that wraps [ErrMinor] for a version before 1.31, [ErrNoGate] when the gate is set for 1.31, and
// [ErrGateLocked] when it is off from 1.36 on. Source: KEP-2862, Design Details and Graduation Criteria.
func New(o Options) (Mapper, error) {
	if o.Minor == 0 {
		o.Minor = MinorNewest
	}
	asked := o.Minor
	o.Minor, _ = asked.Known()
	switch {
	case o.Minor == 0:
		return Mapper{}, fmt.Errorf("version %q: %w", asked, ErrMinor)
	case o.Gate != GateDefault && !o.Minor.HasGate():
		return Mapper{}, fmt.Errorf("version %q: %w", asked, ErrNoGate)
	case o.Gate == GateOff && o.Minor >= lockedMinor:
		return Mapper{}, fmt.Errorf("version %q: %w", asked, ErrGateLocked)
	}
	return Mapper{node: o.Node, has: o.features()}, nil
}

// features reads options that New has checked.
func (o Options) features() feature {
	var has feature
	if o.Gate == GateOn || o.Gate == GateDefault && o.Minor >= betaMinor {
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
