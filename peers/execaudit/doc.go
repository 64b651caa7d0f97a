// Package execaudit compares the module execaudit with the code of Kubernetes
// and of protobuf, in tests and benchmarks only.
package execaudit
