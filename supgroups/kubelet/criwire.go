package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/cri"
)

// SetContainer writes a request into a container's CRI security context: the user, the group, the policy, and the
// groups as [FSGroup] followed by SupplementalGroups, duplicates kept, as Kubernetes sends them. extra are further
// groups, of volumes for example, and come last.
//
// The policy is written whatever the kubelet's gate says: a pod that was stored with Strict keeps it (KEP-3619, Version
// Skew Strategy). The error is supgroups.ErrUnknownPolicy.
func SetContainer(sc *runtimeapi.LinuxContainerSecurityContext, req supgroups.Request, extra ...int64) error {
	policy, err := cri.FromPolicy(req.Policy)
	if err != nil {
		return err
	}
	sc.SupplementalGroupsPolicy = policy
	sc.RunAsUser, sc.RunAsUsername = message(req.RunAsUser), req.RunAsUsername
	sc.RunAsGroup = message(req.RunAsGroup)
	sc.SupplementalGroups = wireGroups(req, extra)
	return nil
}

// SetSandbox does for a sandbox's security context what SetContainer does for a container's. CRI has no user name
// there.
func SetSandbox(sc *runtimeapi.LinuxSandboxSecurityContext, req supgroups.Request, extra ...int64) error {
	policy, err := cri.FromPolicy(req.Policy)
	if err != nil {
		return err
	}
	sc.SupplementalGroupsPolicy = policy
	sc.RunAsUser, sc.RunAsGroup = message(req.RunAsUser), message(req.RunAsGroup)
	sc.SupplementalGroups = wireGroups(req, extra)
	return nil
}

func wireGroups(req supgroups.Request, extra []int64) []int64 {
	var groups []int64
	if req.FSGroup != nil {
		groups = append(groups, *req.FSGroup)
	}
	return append(append(groups, req.SupplementalGroups...), extra...)
}

func message(v *int64) *runtimeapi.Int64Value {
	if v == nil {
		return nil
	}
	return &runtimeapi.Int64Value{Value: *v}
}

// ContainerUser returns containerStatuses[].user for what the runtime reported, groups in the same order; nil for nil.
// Whether to publish it is admission.Decision.UserReported.
func ContainerUser(user *runtimeapi.ContainerUser) *corev1.ContainerUser {
	if user == nil {
		return nil
	}
	linux := user.GetLinux()
	if linux == nil {
		return &corev1.ContainerUser{}
	}
	return &corev1.ContainerUser{Linux: &corev1.LinuxContainerUser{
		UID: linux.GetUid(), GID: linux.GetGid(),
		SupplementalGroups: append([]int64(nil), linux.GetSupplementalGroups()...),
	}}
}

// NodeFeatures returns node.status.features for a runtime's status; nil when the runtime reports no features.
func NodeFeatures(status *runtimeapi.StatusResponse) *corev1.NodeFeatures {
	supported := cri.NodeFeature(status)
	if supported == nil {
		return nil
	}
	return &corev1.NodeFeatures{SupplementalGroupsPolicy: supported}
}
