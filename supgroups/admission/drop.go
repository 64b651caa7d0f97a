package admission

import corev1 "k8s.io/api/core/v1"

// DropPodFields removes from a pod that is about to be stored what the API server's gate does not allow: with the gate
// off, the policy, unless old already has one, and the users of the container statuses. old is nil for a new pod. With
// the gate on, nothing changes. It changes pod in place.
//
// Source: KEP-3619, Test Plan (dropDisabledFields) and Version Skew Strategy.
func DropPodFields(server Component, pod, old *corev1.Pod) {
	if server.Enabled() {
		return
	}
	if sc := pod.Spec.SecurityContext; sc != nil && !usesPolicy(old) {
		sc.SupplementalGroupsPolicy = nil
	}
	for _, kind := range containerStatuses(&pod.Status) {
		for i := range kind.list {
			kind.list[i].User = nil
		}
	}
}

func usesPolicy(pod *corev1.Pod) bool {
	return pod != nil && pod.Spec.SecurityContext != nil && pod.Spec.SecurityContext.SupplementalGroupsPolicy != nil
}

// DropNodeFields does the same for node.status.features.supplementalGroupsPolicy: with the gate off it is removed,
// unless old already has it.
func DropNodeFields(server Component, node, old *corev1.Node) {
	if server.Enabled() || node.Status.Features == nil || reportsFeature(old) {
		return
	}
	node.Status.Features.SupplementalGroupsPolicy = nil
}

func reportsFeature(node *corev1.Node) bool {
	return node != nil && node.Status.Features != nil && node.Status.Features.SupplementalGroupsPolicy != nil
}
