// Package stack starts the reference cluster on this machine: an API server, one
// or more nodes (a kubelet over our runtime or over containerd), a registry with
// our images, a throw-away certificate authority, and kubeconfigs for its users.
//
//	s, err := stack.Start(ctx, stack.Options{Dir: dir, Nodes: []stack.Node{{Name: "node-1"}}})
//	…
//	defer s.Stop()
//
// Every component is a process of its own, so that it can be killed and started
// again; everything listens on loopback.
package stack
