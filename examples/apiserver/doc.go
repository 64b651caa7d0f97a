// Package apiserver is the reference API server: k8s.io/apiserver's generic server with the resources that identity at
// the node needs, state in memory, RBAC, audit, service account tokens, and exec sessions that carry their audit ID to
// the node (KEP-6035).
//
//	server, err := apiserver.New(apiserver.Options{…})
//	err = server.Run(ctx) // until ctx ends
//
// It is a reference, not a cluster: there are no controllers, no scheduler, no server-side apply and no aggregation.
package apiserver
