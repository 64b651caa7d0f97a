package privilege_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

func anyCalls() *rapid.Generator[[]privilege.Call] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) privilege.Call {
		e := rapid.SampledFrom(kubeletauthz.Endpoints()).Draw(t, "endpoint")
		return privilege.Call{Method: e.Method, Path: e.Path, Proxied: rapid.IntRange(0, 4).Draw(t, "way") == 0}
	}), 1, 5)
}

func anyRules() *rapid.Generator[[]rbacv1.PolicyRule] {
	resources := []string{"pods", "nodes", "nodes/status", "nodes/proxy", "nodes/pods", "nodes/stats", "nodes/spec", "nodes/*", "pods/proxy"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{
			APIGroups: []string{rapid.SampledFrom([]string{"", "apps"}).Draw(t, "group")},
			Resources: rapid.SliceOfN(rapid.SampledFrom(resources), 1, 4).Draw(t, "resources"),
			Verbs:     rapid.SliceOfN(rapid.SampledFrom([]string{"get", "list", "create", "*"}), 1, 2).Draw(t, "verbs"),
		}
	}), 0, 4)
}

// allowed says whether rules allow a call on a version, by asking as the kubelet or the API server does.
func allowed(rules []rbacv1.PolicyRule, c privilege.Call, minor kubeletauthz.Minor) bool {
	m, err := kubeletauthz.New(kubeletauthz.Options{Minor: minor})
	return err == nil && slices.ContainsFunc(c.Asks(m), func(n privilege.Need) bool {
		return grant(rules, rbac.Request{Verb: n.Verb, Resource: "nodes", Subresource: n.Subresource})
	})
}

// grant reports whether rules allow a request of somebody who has them.
func grant(rules []rbacv1.PolicyRule, r rbac.Request) bool {
	r.User = "u"
	answer, err := rbac.New(&rbac.Snapshot{
		Cluster:         []*rbacv1.ClusterRole{{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Rules: rules}},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{{RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "u"}}}},
	}).Authorize(context.Background(), r)
	return err == nil && answer.Allowed
}

// servable leaves out versions that cannot serve a call.
func servable(c privilege.Call, minor kubeletauthz.Minor) bool {
	return c.Proxied || !slices.ContainsFunc(kubeletauthz.Endpoints(), func(e kubeletauthz.Endpoint) bool { return e.Path == c.Path && e.Since > minor })
}

func allowedEverywhere(rules []rbacv1.PolicyRule, calls []privilege.Call, oldest kubeletauthz.Minor) bool {
	for minor := oldest; minor <= max(oldest, kubeletauthz.MinorNewest); minor++ {
		for _, c := range calls {
			if servable(c, minor) && !allowed(rules, c, minor) {
				return false
			}
		}
	}
	return true
}

func TestLeastPrivilegeLaws(t *testing.T) {
	oldest := rapid.Custom(func(t *rapid.T) kubeletauthz.Minor {
		return kubeletauthz.Minor(rapid.IntRange(31, 40).Draw(t, "minor"))
	})
	t.Run("KAZ-12 the rules are enough on every version", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			calls, from := anyCalls().Draw(t, "calls"), oldest.Draw(t, "oldest")
			if needs := privilege.Needs(calls, privilege.Fleet{Oldest: from}); !allowedEverywhere(privilege.Rules(needs), calls, from) {
				t.Fatalf("Needs(%v, %v) = %v, which is not enough", calls, from, needs)
			}
		})
	})
	t.Run("KAZ-12 and without any one of them they are not", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			calls, from := anyCalls().Draw(t, "calls"), oldest.Draw(t, "oldest")
			needs := privilege.Needs(calls, privilege.Fleet{Oldest: from})
			for i := range needs {
				if fewer := slices.Delete(slices.Clone(needs), i, i+1); allowedEverywhere(privilege.Rules(fewer), calls, from) {
					t.Fatalf("Needs(%v, %v) = %v, but %v is enough", calls, from, needs, fewer)
				}
			}
		})
	})
	t.Run("KAZ-12 a minimized role allows the calls, and again is the same", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			calls, from, rules := anyCalls().Draw(t, "calls"), oldest.Draw(t, "oldest"), anyRules().Draw(t, "rules")
			needs := privilege.Needs(calls, privilege.Fleet{Oldest: from})
			once, err := privilege.Minimize(rules, needs)
			if err != nil || !allowedEverywhere(once.Rules, calls, from) {
				t.Fatalf("Minimize(%+v, %v) = %+v, %v, which is not enough", rules, needs, once, err)
			}
			twice, err := privilege.Minimize(once.Rules, needs)
			if err != nil || !slices.EqualFunc(once.Rules, twice.Rules, same) {
				t.Fatalf("Minimize of %+v = %+v, %v, want the same", once.Rules, twice.Rules, err)
			}
		})
	})
	t.Run("KAZ-12 it changes nothing else", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			rules, needs := anyRules().Draw(t, "rules"), privilege.Needs(anyCalls().Draw(t, "calls"), privilege.Fleet{Oldest: 33})
			got, err := privilege.Minimize(rules, needs)
			if err != nil {
				t.Fatal(err)
			}
			for _, resource := range []string{"pods", "nodes", "nodes/status", "pods/proxy"} {
				for _, verb := range []string{"get", "list", "create", "delete"} {
					for _, group := range []string{"", "apps"} {
						ask := rbac.Request{Verb: verb, APIGroup: group, Resource: resource}
						if grant(rules, ask) != grant(got.Rules, ask) {
							t.Fatalf("Minimize(%+v) = %+v changes %s %s of group %q", rules, got.Rules, verb, resource, group)
						}
					}
				}
			}
		})
	})
}

func same(a, b rbacv1.PolicyRule) bool {
	return slices.Equal(a.APIGroups, b.APIGroups) && slices.Equal(a.Resources, b.Resources) && slices.Equal(a.Verbs, b.Verbs)
}
