package cri

import (
	"fmt"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// Policy returns the policy of a CRI message. A value that this version does not know is supgroups.ErrUnknownPolicy and
// never Merge: the kubelet may have meant something stricter.
func Policy(p runtimeapi.SupplementalGroupsPolicy) (supgroups.Policy, error) {
	switch p {
	case runtimeapi.SupplementalGroupsPolicy_Merge:
		return supgroups.Merge, nil
	case runtimeapi.SupplementalGroupsPolicy_Strict:
		return supgroups.Strict, nil
	}
	return supgroups.Merge, fmt.Errorf("%w: CRI value %d", supgroups.ErrUnknownPolicy, p)
}

// FromPolicy returns p as CRI has it. A value that is neither Merge nor Strict is supgroups.ErrUnknownPolicy.
func FromPolicy(p supgroups.Policy) (runtimeapi.SupplementalGroupsPolicy, error) {
	switch p {
	case supgroups.Merge:
		return runtimeapi.SupplementalGroupsPolicy_Merge, nil
	case supgroups.Strict:
		return runtimeapi.SupplementalGroupsPolicy_Strict, nil
	}
	return runtimeapi.SupplementalGroupsPolicy_Merge, fmt.Errorf("%w: %s", supgroups.ErrUnknownPolicy, p)
}
