// Package gates contains the feature gates of five KEPs as the reference API server
// and kubelet read them: which component has which gate, the gate's stage and default
// in each Kubernetes minor version, and when it is locked.
package gates

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// The gates by the names of --feature-gates.
const (
	ExecEnvVar                    featuregate.Feature = execaudit.GateExecEnvVar                           // KEP-6035
	ExecRequestID                 featuregate.Feature = execaudit.GateExecRequestID                        // KEP-6035
	SupplementalGroupsPolicy      featuregate.Feature = admission.GateName                                 // KEP-3619
	FineGrainedAuthz              featuregate.Feature = "KubeletFineGrainedAuthz"                          // KEP-2862
	ServiceAccountTokenForPlugins featuregate.Feature = "KubeletServiceAccountTokenForCredentialProviders" // KEP-4412
	NodeAudienceRestriction       featuregate.Feature = "ServiceAccountNodeAudienceRestriction"            // KEP-4412
	EnsureSecretPulledImages      featuregate.Feature = "KubeletEnsureSecretPulledImages"                  // KEP-2535
)

// MinMinor and MaxMinor bound the Kubernetes minor versions whose gates are known;
// MaxMinor is the default, and what a newer one is treated as.
const (
	MinMinor = 31
	MaxMinor = 37
)

// specs says since when each gate exists and how its stage changed.
var specs = map[featuregate.Feature]featuregate.VersionedSpecs{
	ExecEnvVar:    {alpha(37)},
	ExecRequestID: {alpha(37)},
	SupplementalGroupsPolicy: {
		alpha(31), beta(33, true), locked(35),
	},
	FineGrainedAuthz: {
		alpha(32), beta(33, true), locked(36),
	},
	ServiceAccountTokenForPlugins: {
		alpha(33), beta(34, true),
	},
	NodeAudienceRestriction: {
		beta(32, false), beta(33, true),
	},
	EnsureSecretPulledImages: {
		alpha(33), beta(35, true),
	},
}

func alpha(minor int) featuregate.FeatureSpec {
	return featuregate.FeatureSpec{Version: Version(minor), PreRelease: featuregate.Alpha}
}

func beta(minor int, on bool) featuregate.FeatureSpec {
	return featuregate.FeatureSpec{Version: Version(minor), PreRelease: featuregate.Beta, Default: on}
}

func locked(minor int) featuregate.FeatureSpec {
	return featuregate.FeatureSpec{Version: Version(minor), PreRelease: featuregate.GA, Default: true, LockToDefault: true}
}

// Known returns the minor version whose gates a component of Kubernetes 1.minor has,
// and whether that is minor itself. For a version after MaxMinor it returns MaxMinor
// and false, which a component says in its log; for one before MinMinor, which
// APIServer and Kubelet refuse, 0 and false.
func Known(minor int) (int, bool) {
	switch {
	case minor < MinMinor:
		return 0, false
	case minor > MaxMinor:
		return MaxMinor, false
	}
	return minor, true
}

// Version returns Kubernetes 1.minor.
func Version(minor int) *version.Version {
	return version.MajorMinor(1, uint(minor))
}

// APIServer returns the API server's gates as of Kubernetes 1.minor, at their
// defaults. A version before MinMinor is an error; see [Known] for one after MaxMinor.
func APIServer(minor int) (featuregate.MutableVersionedFeatureGate, error) {
	return component(minor, ExecEnvVar, ExecRequestID, SupplementalGroupsPolicy, FineGrainedAuthz, NodeAudienceRestriction)
}

// Kubelet returns the kubelet's gates as of Kubernetes 1.minor, at their defaults. A
// version before MinMinor is an error; see [Known] for one after MaxMinor.
func Kubelet(minor int) (featuregate.MutableVersionedFeatureGate, error) {
	return component(minor, ExecEnvVar, SupplementalGroupsPolicy, FineGrainedAuthz, ServiceAccountTokenForPlugins, EnsureSecretPulledImages)
}

// component returns the gates that exist in that version: setting one of a later
// version is refused, as upstream does.
func component(minor int, features ...featuregate.Feature) (featuregate.MutableVersionedFeatureGate, error) {
	playing, _ := Known(minor)
	if playing == 0 {
		return nil, fmt.Errorf("kubernetes minor version %d: want %d or newer", minor, MinMinor)
	}
	gate := featuregate.NewVersionedFeatureGate(Version(playing))
	known := map[featuregate.Feature]featuregate.VersionedSpecs{}
	for _, f := range features {
		known[f] = specs[f]
	}
	if err := gate.AddVersioned(known); err != nil {
		return nil, err
	}
	return gate, nil
}

// Exec returns the two exec gates as the execaudit packages take them. For a
// component that does not know ExecRequestID, that gate is off.
func Exec(gate featuregate.MutableVersionedFeatureGate) (execaudit.Gates, error) {
	g := execaudit.Gates{ExecEnvVar: gate.Enabled(ExecEnvVar)}
	if _, known := gate.GetAll()[ExecRequestID]; known {
		g.ExecRequestID = gate.Enabled(ExecRequestID)
	}
	return g, g.Validate()
}

// Groups returns the component of Kubernetes 1.minor, with its gate
// SupplementalGroupsPolicy, as package admission takes it.
func Groups(minor int, gate featuregate.FeatureGate) (admission.Component, error) {
	setting := admission.GateOff
	if gate.Enabled(SupplementalGroupsPolicy) {
		setting = admission.GateOn
	}
	return admission.NewComponent(admission.Minor(minor), setting)
}
