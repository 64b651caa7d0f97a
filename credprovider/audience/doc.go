// Package audience is the API server's side of KEP-4412: may a node have a service account token with this audience?
//
//	checker := audience.Checker{Pods: pods, Claims: claims, Volumes: volumes, Drivers: drivers, Authorizer: rbac}
//	err := checker.Check(ctx, audience.Request{
//		Node: "node-1", User: user, Namespace: "team", Name: "app", Spec: tokenRequest.Spec,
//	})
//
// A node may have tokens that are bound to a pod that runs on it. Their audience is one that the pod's own volumes ask
// for, or one that the authorizer allows. Call it for requests of node identities (user system:node:NAME in group
// system:nodes) only: other users are not restricted by it.
//
// Spec: KEP-4412, Kubernetes API Server (KAS) Changes; Kubernetes 1.37, NodeRestriction. Deliberately different: a
// volume that cannot be looked up does not keep the authorizer from being asked.
package audience
