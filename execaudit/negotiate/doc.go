// Package negotiate tells whether a CRI runtime injects ExecRequest.envs, and
// what the kubelet does when it does not: warn and go on, or refuse
// (KEP-6035, Silent Degradation).
//
//	runtime: status.Conditions = append(status.Conditions, negotiate.Condition(true))
//	kubelet: policy.Admit(ctx, negotiate.Supported(resp), envs, session)
//
// The KEP leaves the shape of the negotiation open. Here it is a
// RuntimeCondition, which kubelets that do not know it ignore; when cri-api
// gains a feature field named FeatureField, that is asked first.
package negotiate
