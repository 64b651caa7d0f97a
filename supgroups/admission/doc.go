// Package admission has the decisions of KEP-3619 around a pod: whether a kubelet takes it, what policy is in effect and
// whether the container's user is reported, and what an API server refuses or drops.
//
//	gate, err := admission.NewGate(33, true)
//	…
//	d := admission.Admit(gate, node.Status.Features.SupplementalGroupsPolicy, pod.Spec.SecurityContext.SupplementalGroupsPolicy)
//	if d.Rejected {
//		// phase Failed, with d.Reason and d.Message; an event with both; the metric MetricName{reason=d.Reason}
//	}
package admission
