package kubeletauthz

import "errors"

var (
	// ErrMinor says that a text is not a Kubernetes version, or a version is older than 1.31.
	ErrMinor = errors.New("not a Kubernetes version from 1.31 on")

	// ErrNoGate says that the gate was set for 1.31, which does not have it.
	ErrNoGate = errors.New("no feature gate KubeletFineGrainedAuthz before 1.32")

	// ErrGateLocked says that the gate was switched off for a version from 1.36 on, where it is locked.
	ErrGateLocked = errors.New("feature gate KubeletFineGrainedAuthz is locked to true")
)
