package admission

import "errors"

var (
	// ErrMinor means a number that is not a minor version of Kubernetes: a negative one.
	ErrMinor = errors.New("not a Kubernetes minor version")
	// ErrNoGate means that the gate was set for a version that does not have it, before 1.31.
	ErrNoGate = errors.New("no feature gate SupplementalGroupsPolicy")
	// ErrGateLocked means that the gate was switched off for a version where it is locked on, from 1.35.
	ErrGateLocked = errors.New("feature gate SupplementalGroupsPolicy is locked to true")
)
