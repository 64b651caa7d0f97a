package admission

import corev1 "k8s.io/api/core/v1"

const (
	// Reason is the reason of a rejected pod and of its event, and the metric's label.
	Reason = "SupplementalGroupsPolicyNotSupported"
	// Message is the message of a rejected pod and of its event, as in the KEP. Kubernetes's own kubelet writes
	// "SupplementalGroupsPolicy=Strict is not supported in this node".
	Message = "Error: SupplementalGroupsPolicy is not supported in this node."
	// MetricName is the counter of rejections, with the label MetricLabel.
	MetricName = "kubelet_admission_rejections_total"
	// MetricLabel is the only label of MetricName.
	MetricLabel = "reason"
)

// Decision is one row of the KEP's matrix.
type Decision struct {
	// Effective is the policy the containers run under; "" when the pod is rejected.
	Effective corev1.SupplementalGroupsPolicy
	// Rejected says that the kubelet refuses the pod. Reason and Message are set then, and "" otherwise.
	Rejected        bool
	Reason, Message string
	// UserReported says that containerStatuses[].user is filled in.
	UserReported bool
}

// Admit decides about a pod on a node: feature is node.status.features.supplementalGroupsPolicy (nil, which means that
// the runtime said nothing, and false are both "no"), policy is the pod's (nil is Merge).
//
// A kubelet from 1.33 on rejects Strict where the runtime lacks the feature, whether or not its gate is on; an alpha
// one silently falls back to Merge. A stored Strict reaches a capable runtime even with the gate off.
//
// Source: KEP-3619, Version Skew Strategy.
func Admit(kubelet Component, feature *bool, policy *corev1.SupplementalGroupsPolicy) Decision {
	supported := feature != nil && *feature
	strict := policy != nil && *policy == corev1.SupplementalGroupsPolicyStrict
	if strict && !supported && kubelet.known() >= MinorBeta {
		return Decision{Rejected: true, Reason: Reason, Message: Message}
	}
	d := Decision{Effective: corev1.SupplementalGroupsPolicyMerge, UserReported: kubelet.Enabled() && supported}
	if strict && supported && kubelet.known() >= MinorAlpha {
		d.Effective = corev1.SupplementalGroupsPolicyStrict
	}
	return d
}
