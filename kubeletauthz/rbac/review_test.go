package rbac_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestReview(t *testing.T) {
	paths := rbacv1.PolicyRule{NonResourceURLs: on("/metrics"), Verbs: on("get")}
	store := &rbac.Snapshot{
		Cluster: []*rbacv1.ClusterRole{clusterRole("r", rule(on(""), on("nodes/pods"), on("get"), "n1"), paths)},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{
			clusterBinding("b", "r", group("g")), clusterBinding("dangling", "gone", group("g")),
		},
	}
	resource := func(a authorizationv1.ResourceAttributes) authorizationv1.SubjectAccessReviewSpec {
		return authorizationv1.SubjectAccessReviewSpec{User: "u", Groups: []string{"g"}, ResourceAttributes: &a}
	}
	nodePods := authorizationv1.ResourceAttributes{Verb: "get", Resource: "nodes", Subresource: "pods", Name: "n1"}
	otherNode := nodePods
	otherNode.Name = "n2"
	for _, c := range []struct {
		name    string
		spec    authorizationv1.SubjectAccessReviewSpec
		allowed bool
	}{
		{"KAZ-5 a node's subresource", resource(nodePods), true},
		{"KAZ-5 another node's", resource(otherNode), false},
		{"KAZ-5 another group's user", authorizationv1.SubjectAccessReviewSpec{User: "g", ResourceAttributes: &nodePods}, false},
		{"KAZ-5 a path", authorizationv1.SubjectAccessReviewSpec{Groups: []string{"g"}, NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/metrics"}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := rbac.New(store).Review(t.Context(), c.spec)
			if err != nil || got.Allowed != c.allowed || got.Denied {
				t.Errorf("Review = %+v, %v, want allowed %v", got, err, c.allowed)
			}
			if got.Allowed && got.Reason != `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "g"` {
				t.Errorf("Reason = %q", got.Reason)
			}
		})
	}
	t.Run("KAZ-4 faults of bindings are told beside the refusal", func(t *testing.T) {
		got, err := rbac.New(store).Review(t.Context(), resource(otherNode))
		if err != nil || got.Allowed || !strings.Contains(got.EvaluationError, `"dangling"`) {
			t.Errorf("Review = %+v, %v, want the dangling binding", got, err)
		}
	})
	for name, spec := range map[string]authorizationv1.SubjectAccessReviewSpec{
		"no attributes":   {},
		"both attributes": {ResourceAttributes: &nodePods, NonResourceAttributes: &authorizationv1.NonResourceAttributes{}},
	} {
		t.Run("KAZ-4 "+name, func(t *testing.T) {
			if got, err := rbac.New(store).Review(t.Context(), spec); !errors.Is(err, rbac.ErrAttributes) || got.Allowed {
				t.Errorf("Review = %+v, %v, want ErrAttributes", got, err)
			}
		})
	}
}
