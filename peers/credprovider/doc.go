// Package credprovider sets our configuration, messages, records and references beside the types that k8s.io/kubelet
// v0.37.2 publishes and the reference grammar of the distribution project: the same JSON and YAML, the same names.
package credprovider
