// Package registry stores the objects that the reference API server serves: which resources there are, what the server
// fills in and refuses, and how kubectl shows them. The machinery is k8s.io/apiserver's generic store over package
// memory.
package registry
