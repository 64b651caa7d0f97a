package rbac_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	"pgregory.net/rapid"
)

var (
	words     = rapid.SampledFrom([]string{"*", "", "get", "nodes", "pods", "nodes/pods", "nodes/*", "*/pods"})
	someWords = rapid.SliceOfN(words, 0, 3)
	anyRule   = rapid.Custom(func(t *rapid.T) rbacv1.PolicyRule {
		return rule(someWords.Draw(t, "groups"), someWords.Draw(t, "resources"), someWords.Draw(t, "verbs"), rapid.SliceOfN(words, 0, 1).Draw(t, "names")...)
	})
	anyRequest = rapid.Custom(func(t *rapid.T) rbac.Request {
		return rbac.Request{
			User: "u", Verb: words.Draw(t, "verb"), APIGroup: words.Draw(t, "group"), Resource: words.Draw(t, "resource"),
			Subresource: words.Draw(t, "subresource"), Name: words.Draw(t, "name"),
		}
	})
)

func TestRBACLaws(t *testing.T) {
	t.Run("KAZ-12 more of anything never takes away", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r, ask := anyRule.Draw(t, "rule"), anyRequest.Draw(t, "request")
			if firstAllowing(t, []rbacv1.PolicyRule{r}, ask) < 0 {
				return
			}
			r.Verbs, r.APIGroups, r.Resources = append(r.Verbs, "x"), append(r.APIGroups, "x"), append(r.Resources, "x")
			if firstAllowing(t, []rbacv1.PolicyRule{r}, ask) < 0 {
				t.Fatalf("%+v with more in it does not allow %+v", r, ask)
			}
		})
	})
	t.Run("KAZ-12 rules allow what one of them allows", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			rules, ask := rapid.SliceOfN(anyRule, 0, 5).Draw(t, "rules"), anyRequest.Draw(t, "request")
			want := -1
			for i := len(rules) - 1; i >= 0; i-- {
				if firstAllowing(t, rules[i:i+1], ask) == 0 {
					want = i
				}
			}
			if got := firstAllowing(t, rules, ask); got != want {
				t.Fatalf("rule %d allows, want %d", got, want)
			}
		})
	})
	t.Run("KAZ-12 Authorize agrees with Grants", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			store := &rbac.Snapshot{
				Cluster:         []*rbacv1.ClusterRole{clusterRole("a", rapid.SliceOfN(anyRule, 0, 3).Draw(t, "a")...), clusterRole("b", rapid.SliceOfN(anyRule, 0, 3).Draw(t, "b")...)},
				ClusterBindings: []*rbacv1.ClusterRoleBinding{clusterBinding("a", "a", user("u")), clusterBinding("b", "b", user("other")), clusterBinding("c", "b", user("u"))},
			}
			ask := anyRequest.Draw(t, "request")
			grants, err := rbac.New(store).Grants(t.Context(), "u", nil, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := rbac.New(store).Authorize(t.Context(), ask)
			for _, g := range grants {
				if firstAllowing(t, []rbacv1.PolicyRule{g.Rule}, ask) == 0 {
					if !got.Allowed || got.Grant.String() != g.String() || got.Grant.Index != g.Index {
						t.Fatalf("Authorize = %+v, %v, want by %v", got, err, g)
					}
					return
				}
			}
			if got.Allowed {
				t.Fatalf("Authorize = %+v, want refused", got)
			}
		})
	})
}
