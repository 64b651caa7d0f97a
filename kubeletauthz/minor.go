package kubeletauthz

import (
	"fmt"
	"strconv"
	"strings"
)

// Minor is a Kubernetes minor version: 36 is Kubernetes 1.36.
type Minor int

// The versions whose mapping is known. A newer one is treated as MinorNewest, so that a new release of Kubernetes
// breaks nobody; see [Minor.Known]. An older one is an error.
const (
	MinorOldest Minor = 31
	MinorNewest Minor = 37
)

// gateMinor is the first version that has the KubeletFineGrainedAuthz gate, alpha and off.
const gateMinor Minor = 32

// betaMinor is the first version where the gate is on by default, and the first that knows statusz and flagz.
const betaMinor Minor = 33

// allocatedMinor is the first version that maps /allocatedPods, whether or not its gate KubeletAllocatedPodsEndpoint
// serves it.
const allocatedMinor Minor = 37

// lockedMinor is the first version where the gate cannot be switched off.
const lockedMinor Minor = 36

// ParseMinor reads "1.36", "v1.36" and "v1.36.3+vendor". Only the minor version counts.
//
// It returns an error that wraps [ErrMinor] for anything else and for a version before 1.31. A version after the newest
// known one is returned as it is; [Minor.Known] tells.
func ParseMinor(text string) (Minor, error) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "v"), "1.")
	digits, _, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || Minor(n) < MinorOldest {
		return 0, fmt.Errorf("version %q: %w", text, ErrMinor)
	}
	return Minor(n), nil
}

// String returns "1.36" for 36.
func (m Minor) String() string { return "1." + strconv.Itoa(int(m)) }

// Known returns the version whose mapping [New] uses for m, and whether that is m itself. For a version after
// MinorNewest it returns MinorNewest and false, which is worth a line in the program's log; for one before MinorOldest,
// which New refuses, 0 and false.
func (m Minor) Known() (Minor, bool) {
	switch {
	case m < MinorOldest:
		return 0, false
	case m > MinorNewest:
		return MinorNewest, false
	}
	return m, true
}

// HasGate reports whether this version has the KubeletFineGrainedAuthz gate, so that Options.Gate may be set.
func (m Minor) HasGate() bool { return m >= gateMinor }
