// Package negotiate tells whether a CRI runtime injects ExecRequest.envs, and
// what the kubelet does when it does not: warn and go on, or refuse
// (KEP-6035, Silent Degradation).
//
//	runtime: negotiate.Announce(resp, func(handler string) bool { return … })
//	kubelet: policy.Admit(ctx, negotiate.Supported(resp, handler), envs, session)
//
// It is told for each runtime handler, since handlers of one runtime start their
// processes in different ways. The KEP leaves the shape of the negotiation open.
// Here it is a RuntimeCondition, which kubelets that do not know it ignore; when
// cri-api gains a feature field named FeatureField, that is asked first.
package negotiate
