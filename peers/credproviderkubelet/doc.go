// Package credproviderkubelet sets our matching, keyring, validation and lookups beside the code of a kubelet,
// k8s.io/kubernetes v1.36.3: the same answers, and what each costs.
package credproviderkubelet
