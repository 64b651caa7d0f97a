package kubeletauthz

import "errors"

var (
	// ErrMinor says that a version is not one of 1.31 to 1.37.
	ErrMinor = errors.New("not a Kubernetes version from 1.31 to 1.37")

	// ErrNoGate says that the gate was set for a version that does not have it, before 1.32.
	ErrNoGate = errors.New("no feature gate KubeletFineGrainedAuthz")

	// ErrGateLocked says that the gate was switched off for a version where it is locked on, from 1.36.
	ErrGateLocked = errors.New("feature gate KubeletFineGrainedAuthz is locked to true")
)
