package cri

import (
	"fmt"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// Policy returns the policy of a CRI message. A value that this version does not know is supgroups.ErrUnknownPolicy and
// never PolicyMerge: the kubelet may have meant something stricter.
func Policy(p runtimeapi.SupplementalGroupsPolicy) (supgroups.Policy, error) {
	switch p {
	case runtimeapi.SupplementalGroupsPolicy_Merge:
		return supgroups.PolicyMerge, nil
	case runtimeapi.SupplementalGroupsPolicy_Strict:
		return supgroups.PolicyStrict, nil
	}
	return supgroups.PolicyMerge, fmt.Errorf("%w: CRI value %d", supgroups.ErrUnknownPolicy, p)
}

// FromPolicy returns p as an enum of CRI. A value other than the two is supgroups.ErrUnknownPolicy.
func FromPolicy(p supgroups.Policy) (runtimeapi.SupplementalGroupsPolicy, error) {
	switch p {
	case supgroups.PolicyMerge:
		return runtimeapi.SupplementalGroupsPolicy_Merge, nil
	case supgroups.PolicyStrict:
		return runtimeapi.SupplementalGroupsPolicy_Strict, nil
	}
	return runtimeapi.SupplementalGroupsPolicy_Merge, fmt.Errorf("%w: %s", supgroups.ErrUnknownPolicy, p)
}
