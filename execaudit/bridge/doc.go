// Package bridge carries an exec's identity on clusters without KEP-6035: unmodified kubectl, kube-apiserver, kubelet,
// and containerd or CRI-O.
//
// A mutating webhook ([Webhook]) puts a signed token first into the command of an exec; a program in the place of the
// node's OCI runtime takes it off, gives the process [SessionName] and the kernel's mark, writes down both, and executes
// the real runtime. The API server's audit event of the exec has the same ID as an annotation.
//
// This package names what the parts agree on. Its sub-packages are token (the signed element), admission (the webhook's
// decision), readiness (what a node says of itself), oci (the rewrite on the node), spool (what waits on the node's
// disk for its journal) and sessions (what the webhook writes down, and who ran it).
//
// Source: beyond KEP-6035, for clusters without it.
package bridge
