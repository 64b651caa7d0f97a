package cri

import (
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// ContainerRequest returns what a container's security context asks for; imageUser is config.User of its image. A nil
// context asks for nothing. FSGroup is always nil: CRI mixes it into the supplemental groups.
//
// The only error is supgroups.ErrUnknownPolicy; IDs are checked by supgroups.Resolve.
func ContainerRequest(sc *runtimeapi.LinuxContainerSecurityContext, imageUser string) (supgroups.Request, error) {
	policy, err := Policy(sc.GetSupplementalGroupsPolicy())
	return supgroups.Request{
		Policy:             policy,
		RunAsUsername:      sc.GetRunAsUsername(),
		RunAsUser:          value(sc.GetRunAsUser()),
		RunAsGroup:         value(sc.GetRunAsGroup()),
		SupplementalGroups: sc.GetSupplementalGroups(),
		ImageUser:          imageUser,
	}, err
}

// SandboxRequest does for the sandbox's own process what ContainerRequest does for a container's. The policy counts
// here too; containerd ignores it.
func SandboxRequest(sc *runtimeapi.LinuxSandboxSecurityContext, imageUser string) (supgroups.Request, error) {
	policy, err := Policy(sc.GetSupplementalGroupsPolicy())
	return supgroups.Request{
		Policy:             policy,
		RunAsUser:          value(sc.GetRunAsUser()),
		RunAsGroup:         value(sc.GetRunAsGroup()),
		SupplementalGroups: sc.GetSupplementalGroups(),
		ImageUser:          imageUser,
	}, err
}

func value(v *runtimeapi.Int64Value) *int64 {
	if v == nil {
		return nil
	}
	return &v.Value
}
