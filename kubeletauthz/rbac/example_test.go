package rbac_test

import (
	"context"
	"fmt"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func ExampleAuthorizer_Authorize() {
	meta := metav1.ObjectMeta{Name: "agent"}
	store := &rbac.Snapshot{
		Cluster: []*rbacv1.ClusterRole{{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"nodes/pods"}, Verbs: []string{"get"}},
		}}},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "agent"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "monitoring", Name: "agent"}},
		}},
	}
	for _, subresource := range []string{"pods", "proxy"} {
		answer, err := rbac.New(store).Authorize(context.Background(), rbac.Request{
			User: "system:serviceaccount:monitoring:agent", Verb: "get", Resource: "nodes", Subresource: subresource,
		})
		fmt.Println(subresource, answer.Allowed, err)
		if answer.Allowed {
			fmt.Println(answer.Grant)
		}
	}
	// Output:
	// pods true <nil>
	// ClusterRoleBinding "agent" of ClusterRole "agent" to ServiceAccount "agent/monitoring"
	// proxy false <nil>
}
