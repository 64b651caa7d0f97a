// Package rbac answers whether Kubernetes RBAC rules allow a request, and which rule of which binding does.
//
// It reads the published types of k8s.io/api/rbac/v1 and keeps no state: the roles and bindings come in through a
// [Source], which an API server implements over its storage and a tool over a [Snapshot] of YAML documents.
//
//	answer, err := rbac.New(source).Authorize(ctx, rbac.Request{
//		User: "system:serviceaccount:monitoring:agent", Verb: "get", Resource: "nodes", Subresource: "pods",
//	})
//	if answer.Allowed {
//		fmt.Println(answer.Grant) // ClusterRoleBinding "agent" of ClusterRole "agent" to ServiceAccount "agent/monitoring"
//	}
//
// Matching follows the RBAC authorizer of Kubernetes 1.36 to the letter, with its traps: "nodes/*" is not a wildcard
// and grants nothing, "*/pods" is one, an empty verb is matched by "*" alone, and a rule with resourceNames does not
// match a request without a name, such as a list.
//
// The package also carries the rules of system:kubelet-api-admin with and without fine-grained kubelet authorization
// (KEP-2862, Design Details).
package rbac
