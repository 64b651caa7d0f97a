package kubeletauthz

import (
	"fmt"
	"strconv"
	"strings"
)

// Minor is a Kubernetes minor version: 36 is Kubernetes 1.36.
type Minor int

// The versions whose mapping is known.
const (
	OldestMinor Minor = 31
	NewestMinor Minor = 37
)

// gateMinor is the first version that has the KubeletFineGrainedAuthz gate, alpha and off.
const gateMinor Minor = 32

// betaMinor is the first version where the gate is on by default, and the first that knows statusz and flagz.
const betaMinor Minor = 33

// allocatedMinor is the first version that maps /allocatedPods, whether or not its gate KubeletAllocatedPodsEndpoint serves it.
const allocatedMinor Minor = 37

// lockedMinor is the first version where the gate cannot be switched off.
const lockedMinor Minor = 36

// ParseMinor reads "1.36", "v1.36" and "v1.36.3+vendor". Only the minor version counts.
//
// It returns an error that wraps [ErrMinor] for anything else, and for versions before 1.31 or after 1.37.
func ParseMinor(text string) (Minor, error) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "v"), "1.")
	digits, _, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || !Minor(n).known() {
		return 0, fmt.Errorf("version %q: %w", text, ErrMinor)
	}
	return Minor(n), nil
}

// String is "1.36".
func (m Minor) String() string { return "1." + strconv.Itoa(int(m)) }

// FineGrainedByDefault reports whether the gate is on in this version unless someone switches it.
func (m Minor) FineGrainedByDefault() bool { return m >= betaMinor }

// HasGate reports whether this version has the KubeletFineGrainedAuthz gate at all.
func (m Minor) HasGate() bool { return m >= gateMinor }

// GateLocked reports whether the gate can no longer be switched off.
func (m Minor) GateLocked() bool { return m >= lockedMinor }

func (m Minor) known() bool { return m >= OldestMinor && m <= NewestMinor }
