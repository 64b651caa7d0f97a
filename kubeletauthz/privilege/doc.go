// Package privilege says which RBAC rules an agent needs for the kubelet endpoints it calls, and which of its rules are
// too wide.
//
//	calls := []privilege.Call{{Method: "GET", Path: "/pods"}, {Method: "GET", Path: "/stats/summary"}}
//	needs := privilege.Needs(calls, privilege.Fleet{Oldest: 33})
//	fmt.Println(privilege.Rules(needs))            // get on nodes/pods and nodes/stats
//	result, err := privilege.Minimize(role.Rules, needs)
//	findings := privilege.Lint("ClusterRole", role.Rules)
//
// A call goes to the kubelet directly, on its port 10250, or through the API server's node proxy. The two are
// authorized by different parties: for a direct call the kubelet asks for the subresource of the path (KEP-2862);
// through the proxy the API server asks for nodes/proxy whatever the path, and the kubelet then sees the API server's
// identity. So fine-grained rules help only with direct calls.
//
// Everything here is a pure function of rules and calls. It assumes kubelets with their version's default gate.
package privilege
