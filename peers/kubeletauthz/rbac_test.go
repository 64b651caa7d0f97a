package kubeletauthz_test

import (
	"context"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
	upstreamrbac "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
	"pgregory.net/rapid"
)

// cluster is a small world of rules, bindings and requests whose names collide often.
type cluster struct {
	ours   *rbac.Snapshot
	theirs *upstreamrbac.RBACAuthorizer
}

var (
	names     = rapid.SampledFrom([]string{"a", "b", "", "system:serviceaccount:n:a"})
	texts     = rapid.SampledFrom([]string{"*", "", "get", "create", "nodes", "nodes/pods", "nodes/proxy", "nodes/*", "*/pods", "*/", "pods", "n1"})
	paths     = rapid.SampledFrom([]string{"*", "/healthz", "/healthz/*", "/healthz*", "", "/**"})
	someTexts = rapid.SliceOfN(texts, 0, 2)
	rules     = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{
			Verbs: someTexts.Draw(t, "verbs"), APIGroups: someTexts.Draw(t, "groups"), Resources: someTexts.Draw(t, "resources"),
			ResourceNames: rapid.SliceOfN(texts, 0, 1).Draw(t, "names"), NonResourceURLs: rapid.SliceOfN(paths, 0, 1).Draw(t, "paths"),
		}
	}), 0, 2)
	subjects = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rbacv1.Subject {
		return rbacv1.Subject{
			Kind:      rapid.SampledFrom([]string{"User", "Group", "ServiceAccount", "Robot"}).Draw(t, "kind"),
			Namespace: rapid.SampledFrom([]string{"", "n"}).Draw(t, "namespace"), Name: names.Draw(t, "name"),
		}
	}), 0, 2)
	refs = rapid.Custom(func(t *rapid.T) rbacv1.RoleRef {
		return rbacv1.RoleRef{Kind: rapid.SampledFrom([]string{"ClusterRole", "Role", "Robot"}).Draw(t, "kind"), Name: rapid.SampledFrom([]string{"r", "gone"}).Draw(t, "role")}
	})
)

func draw(t *rapid.T) cluster {
	meta := metav1.ObjectMeta{Name: "r"}
	local := metav1.ObjectMeta{Name: "r", Namespace: "n"}
	ours := &rbac.Snapshot{
		Cluster:         []*rbacv1.ClusterRole{{ObjectMeta: meta, Rules: rules.Draw(t, "cluster rules")}},
		Namespaced:      []*rbacv1.Role{{ObjectMeta: local, Rules: rules.Draw(t, "rules")}},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{{ObjectMeta: meta, RoleRef: refs.Draw(t, "cluster ref"), Subjects: subjects.Draw(t, "cluster subjects")}},
		Bindings:        []*rbacv1.RoleBinding{{ObjectMeta: local, RoleRef: refs.Draw(t, "ref"), Subjects: subjects.Draw(t, "subjects")}},
	}
	_, roles := validation.NewTestRuleResolver(ours.Namespaced, ours.Bindings, ours.Cluster, ours.ClusterBindings)
	return cluster{ours, upstreamrbac.New(roles, roles, roles, roles)}
}

func TestRBACDecidesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		for range 4 {
			u := &user.DefaultInfo{Name: names.Draw(t, "user"), Groups: rapid.SliceOfN(names, 0, 2).Draw(t, "user groups")}
			record := authorizer.AttributesRecord{
				User: u, Verb: texts.Draw(t, "verb"), APIGroup: texts.Draw(t, "group"), Resource: texts.Draw(t, "resource"),
				Subresource: texts.Draw(t, "subresource"), Name: texts.Draw(t, "name"), Namespace: rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "namespace"),
				ResourceRequest: rapid.Bool().Draw(t, "resource request"), Path: rapid.SampledFrom([]string{"/healthz", "/healthz/x", "/x", "", "*"}).Draw(t, "path"),
			}
			theirs, theirReason, _ := c.theirs.Authorize(context.Background(), record)
			ours, _ := rbac.New(c.ours).Authorize(context.Background(), rbac.Request{
				User: u.Name, Groups: u.Groups, Verb: record.Verb, APIGroup: record.APIGroup, Resource: record.Resource, Subresource: record.Subresource,
				Namespace: record.Namespace, Name: record.Name, NonResource: !record.ResourceRequest, Path: record.Path,
			})
			if ours.Allowed != (theirs == authorizer.DecisionAllow) {
				t.Fatalf("%+v: ours %+v, Kubernetes %v %s", record, ours, theirs, theirReason)
			}
			if ours.Allowed && "RBAC: allowed by "+ours.Grant.String() != theirReason {
				t.Fatalf("%+v: our reason %q, Kubernetes %q", record, ours.Grant, theirReason)
			}
		}
	})
}

// TestKubeletAPIAdminGrantsTheSame compares what the two roles grant; how they are cut into rules is not the same.
func TestKubeletAPIAdminGrantsTheSame(t *testing.T) {
	var theirs []rbacv1.PolicyRule
	for _, role := range bootstrappolicy.ClusterRoles() {
		if role.Name == rbac.KubeletAPIAdmin(true).Name {
			theirs = role.Rules
		}
	}
	if len(theirs) == 0 {
		t.Fatal("Kubernetes has no such role")
	}
	ours := rbac.KubeletAPIAdmin(true).Rules
	for _, verb := range []string{"get", "list", "watch", "proxy", "create", "delete", "update", "patch", ""} {
		for _, sub := range []string{"", "proxy", "pods", "healthz", "configz", "metrics", "stats", "log", "checkpoint", "statusz", "spec", "status"} {
			ask := rbac.Request{Verb: verb, Resource: "nodes", Subresource: sub}
			if got, want := allowed(t, ours, ask), allowed(t, theirs, ask); got != want {
				t.Errorf("%q nodes/%s: ours %v, Kubernetes %v", verb, sub, got, want)
			}
		}
	}
}

// allowed asks our own evaluation on behalf of somebody who has the rules.
func allowed(t *testing.T, rules []rbacv1.PolicyRule, r rbac.Request) bool {
	t.Helper()
	r.User = "u"
	answer, err := rbac.New(&rbac.Snapshot{
		Cluster: []*rbacv1.ClusterRole{{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Rules: rules}},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{{
			RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "u"}},
		}},
	}).Authorize(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Allowed
}
