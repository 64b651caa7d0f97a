package privilege_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
	rbacv1 "k8s.io/api/rbac/v1"
)

// An agent that lists pods needs nodes/proxy while some cluster is older than 1.33.
func ExampleNeeds() {
	calls := []privilege.Call{{Method: "GET", Path: "/pods"}, {Method: "GET", Path: "/stats/summary"}}
	fmt.Println(privilege.Needs(calls, privilege.Fleet{Oldest: 31}))
	fmt.Println(privilege.Needs(calls, privilege.Fleet{Oldest: 33}))
	// Output:
	// [get nodes/proxy get nodes/stats]
	// [get nodes/pods get nodes/stats]
}

func ExampleLint() {
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes/logs"}, Verbs: []string{"get"}}}
	for _, f := range privilege.Lint("ClusterRole", rules) {
		fmt.Println(f.Code, f.Subject, f.Message)
	}
	// Output: unknown-subresource nodes/logs grants nothing: no kubelet asks for it; nodes/log is meant
}
