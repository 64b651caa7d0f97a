package kubelet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// Request returns what the runtime is asked for on behalf of a pod's container; imageUser is config.User of the
// container's image. FSGroup is kept apart, so that its origin can be reported.
//
// A container's own runAsUser and runAsGroup win over the pod's. Without a user, the image's is filled in, without its
// group. A nil container asks for nothing of its own. The error is supgroups.ErrUnknownPolicy.
func Request(spec *corev1.PodSpec, container *corev1.Container, imageUser string) (supgroups.Request, error) {
	req := supgroups.Request{ImageUser: imageUser}
	if sc := spec.SecurityContext; sc != nil {
		policy, err := policyOf(sc)
		if err != nil {
			return req, err
		}
		req.Policy = policy
		req.RunAsUser, req.RunAsGroup = sc.RunAsUser, sc.RunAsGroup
		req.FSGroup, req.SupplementalGroups = sc.FSGroup, sc.SupplementalGroups
	}
	if container != nil && container.SecurityContext != nil {
		sc := container.SecurityContext
		if sc.RunAsUser != nil {
			req.RunAsUser = sc.RunAsUser
		}
		if sc.RunAsGroup != nil {
			req.RunAsGroup = sc.RunAsGroup
		}
	}
	return req.ThroughKubelet(), nil
}

func policyOf(sc *corev1.PodSecurityContext) (supgroups.Policy, error) {
	if sc.SupplementalGroupsPolicy == nil {
		return supgroups.PolicyMerge, nil
	}
	return supgroups.ParsePolicy(string(*sc.SupplementalGroupsPolicy))
}
