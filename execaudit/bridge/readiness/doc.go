// Package readiness is what a node says of itself, and whether a container there is covered by the bridge.
//
// The node's daemon renews a Lease, [LeaseName], and writes a [Readiness] into its annotations: which keys the node
// has, and for each runtime handler since when the wrapper stands in the place of the OCI runtime. The webhook reads
// it, and signs a token only where [Lease.Covers] finds that the wrapper will take the token off: a token that reaches
// a runtime without the wrapper makes the exec fail.
//
// What counts for a container is when its pod was first seen by the kubelet, not only when the container started:
// containerd keeps the runtime's binary with the pod's sandbox, and takes it from there for every container that it
// makes in that sandbox later, restarted ones too.
package readiness
