// Package pods runs the pods of one node through a CRI runtime: it turns a pod's
// spec into sandboxes and containers, restarts what ends, tears down what is
// deleted, and reports status.
//
// A worker per pod compares what the API server wants with what the runtime has
// and makes one step at a time; it keeps nothing that it could not learn again
// from the two, so a kubelet that was killed goes on where it stopped.
package pods
