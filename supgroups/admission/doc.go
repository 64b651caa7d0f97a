// Package admission makes the decisions of KEP-3619 about a pod: whether a kubelet accepts it, which policy is in
// effect, whether the container's user is reported, and what an API server refuses or drops.
//
//	kubelet, err := admission.NewComponent(33, admission.GateOn)
//	…
//	d := admission.Admit(kubelet, node.Status.Features.SupplementalGroupsPolicy, pod.Spec.SecurityContext.SupplementalGroupsPolicy)
//	if d.Rejected {
//		// phase Failed, with d.Reason and d.Message; an event with both; the metric MetricName{reason=d.Reason}
//	}
package admission
