package rbac_test

import (
	"context"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
)

func rule(groups, resources, verbs []string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: groups, Resources: resources, Verbs: verbs, ResourceNames: names}
}

func on(values ...string) []string { return values }

// firstAllowing returns the index of the first rule that allows a request of somebody who has them all, or -1.
func firstAllowing(t interface{ Fatal(...any) }, rules []rbacv1.PolicyRule, r rbac.Request) int {
	r.User = "u"
	answer, err := rbac.New(&rbac.Snapshot{
		Cluster: []*rbacv1.ClusterRole{clusterRole("r", rules...)}, ClusterBindings: []*rbacv1.ClusterRoleBinding{clusterBinding("b", "r", user("u"))},
	}).Authorize(context.Background(), r)
	switch {
	case err != nil:
		t.Fatal(err)
	case answer.Allowed:
		return answer.Grant.Index
	}
	return -1
}

// ruleCases are one rule and one request each.
var ruleCases = []struct {
	name string
	rule rbacv1.PolicyRule
	ask  rbac.Request
	want bool
}{
	{"exact subresource", rule(on(""), on("nodes/pods"), on("get")), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "pods"}, true},
	{"a resource does not grant its subresource", rule(on(""), on("nodes"), on("get")), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "pods"}, false},
	{"a subresource does not grant its resource", rule(on(""), on("nodes/pods"), on("get")), rbac.Request{Verb: "get", Resource: "nodes"}, false},
	{"nodes/* grants nothing", rule(on(""), on("nodes/*"), on("*")), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "pods"}, false},
	{"*/pods grants the subresource of any resource", rule(on(""), on("*/pods"), on("get")), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "pods"}, true},
	{"*/ does not grant the resource", rule(on(""), on("*/"), on("get")), rbac.Request{Verb: "get", Resource: "nodes"}, false},
	{"*/pods does not grant morepods", rule(on(""), on("*/pods"), on("get")), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "morepods"}, false},
	{"* grants subresources too", rule(on(""), on("*"), on("get")), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "proxy"}, true},
	{"another group", rule(on("apps"), on("*"), on("*")), rbac.Request{Verb: "get", Resource: "nodes"}, false},
	{"any group", rule(on("*"), on("nodes"), on("get")), rbac.Request{Verb: "get", APIGroup: "apps", Resource: "nodes"}, true},
	{"no group at all", rule(nil, on("nodes"), on("get")), rbac.Request{Verb: "get", Resource: "nodes"}, false},
	{"verbs are case sensitive", rule(on(""), on("nodes"), on("get")), rbac.Request{Verb: "GET", Resource: "nodes"}, false},
	{"the empty verb needs *", rule(on(""), on("nodes"), on("get", "list")), rbac.Request{Resource: "nodes"}, false},
	{"* grants the empty verb", rule(on(""), on("nodes"), on("*")), rbac.Request{Resource: "nodes"}, true},
	{"a resource name", rule(on(""), on("nodes/pods"), on("get"), "n1"), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "pods", Name: "n1"}, true},
	{"another resource name", rule(on(""), on("nodes/pods"), on("get"), "n1"), rbac.Request{Verb: "get", Resource: "nodes", Subresource: "pods", Name: "n2"}, false},
	{"a resource name against a list", rule(on(""), on("nodes"), on("list"), "n1"), rbac.Request{Verb: "list", Resource: "nodes"}, false},
	{"an exact path", rbacv1.PolicyRule{NonResourceURLs: on("/healthz"), Verbs: on("get")}, rbac.Request{NonResource: true, Verb: "get", Path: "/healthz"}, true},
	{"a path below an exact one", rbacv1.PolicyRule{NonResourceURLs: on("/healthz"), Verbs: on("get")}, rbac.Request{NonResource: true, Verb: "get", Path: "/healthz/etcd"}, false},
	{"a path prefix", rbacv1.PolicyRule{NonResourceURLs: on("/healthz/*"), Verbs: on("get")}, rbac.Request{NonResource: true, Verb: "get", Path: "/healthz/a/b"}, true},
	{"any path", rbacv1.PolicyRule{NonResourceURLs: on("*"), Verbs: on("get")}, rbac.Request{NonResource: true, Verb: "get", Path: "/x"}, true},
	{"a path rule does not grant an empty resource", rbacv1.PolicyRule{NonResourceURLs: on("*"), Verbs: on("*")}, rbac.Request{Verb: "get"}, false},
	{"a resource rule does not grant a path", rule(on("*"), on("*"), on("*")), rbac.Request{NonResource: true, Verb: "get", Path: "/x"}, false},
}

func TestOneRule(t *testing.T) {
	for _, c := range ruleCases {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			if got := firstAllowing(t, []rbacv1.PolicyRule{c.rule}, c.ask) == 0; got != c.want {
				t.Errorf("%v allows %+v = %v, want %v", c.rule, c.ask, got, c.want)
			}
		})
	}
}

func TestTheFirstRuleIsNamed(t *testing.T) {
	rules := []rbacv1.PolicyRule{
		rule(on(""), on("pods"), on("get")), rule(on(""), on("nodes"), on("get")), rule(on("*"), on("*"), on("*")),
	}
	if got := firstAllowing(t, rules, rbac.Request{Verb: "get", Resource: "nodes"}); got != 1 {
		t.Errorf("rule %d allows, want 1", got)
	}
	if got := firstAllowing(t, rules[:1], rbac.Request{Verb: "get", Resource: "nodes"}); got != -1 {
		t.Errorf("rule %d allows, want none", got)
	}
}
