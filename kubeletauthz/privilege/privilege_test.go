package privilege_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
	rbacv1 "k8s.io/api/rbac/v1"
)

var callCases = []struct {
	text string
	want privilege.Call
}{
	{"GET /pods", privilege.Call{Method: "GET", Path: "/pods"}},
	{"/pods", privilege.Call{Method: "GET", Path: "/pods"}},
	{" POST\t/run/a/b/c ", privilege.Call{Method: "POST", Path: "/run/a/b/c"}},
	{"GET /api/v1/nodes/{node}/proxy/metrics/cadvisor", privilege.Call{Method: "GET", Path: "/metrics/cadvisor", Proxied: true}},
	{"GET /api/v1/nodes/https:n1:10250/proxy/pods/", privilege.Call{Method: "GET", Path: "/pods/", Proxied: true}},
	{"GET /api/v1/nodes/n1/proxy", privilege.Call{Method: "GET", Path: "/", Proxied: true}},
	{"GET /api/v1/nodes/n1/proxyish", privilege.Call{Method: "GET", Path: "/api/v1/nodes/n1/proxyish"}},
	{"GET /api/v1/nodes/n1/status", privilege.Call{Method: "GET", Path: "/api/v1/nodes/n1/status"}},
}

var notCalls = []string{"", "GET", "GET pods", "get /pods", "GET /pods /stats", "GET /pods?x", "GET /pods#x", "G-T /pods"}

func TestParseCall(t *testing.T) {
	for _, c := range callCases {
		t.Run("KAZ-12 "+c.text, func(t *testing.T) {
			if got, err := privilege.ParseCall(c.text); got != c.want || err != nil {
				t.Errorf("ParseCall(%q) = %+v, %v, want %+v", c.text, got, err, c.want)
			}
		})
	}
	for _, text := range notCalls {
		t.Run("KAZ-12 not a call "+text, func(t *testing.T) {
			if got, err := privilege.ParseCall(text); !errors.Is(err, privilege.ErrCall) {
				t.Errorf("ParseCall(%q) = %+v, %v, want ErrCall", text, got, err)
			}
		})
	}
}

func calls(t testing.TB, texts string) []privilege.Call {
	var all []privilege.Call
	for text := range strings.SplitSeq(texts, ",") {
		c, err := privilege.ParseCall(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func TestNeeds(t *testing.T) {
	const proxied = "/api/v1/nodes/n/proxy"
	for _, c := range []struct {
		name, calls string
		oldest      kubeletauthz.Minor
		want        string
	}{
		{"fine-grained from 1.33", "/pods", 33, "get nodes/pods"},
		{"proxy for 1.32, which has it switched off", "/pods", 32, "get nodes/proxy"},
		{"proxy for 1.31", "/pods", 31, "get nodes/proxy"},
		{"what always stood alone", "/metrics/cadvisor,/stats/summary,/logs/x", 31, "get nodes/log, get nodes/metrics, get nodes/stats"},
		{"several paths of one subresource", "/pods,/runningpods/,/healthz/ping", 33, "get nodes/healthz, get nodes/pods"},
		{"statusz is not served before 1.33", "/statusz", 31, "get nodes/statusz"},
		{"allocatedPods is not served before 1.37", "/allocatedPods", 31, "get nodes/pods"},
		{"flagz is configz", "/flagz", 31, "get nodes/configz"},
		{"flagz beside configz on old clusters", "/flagz,/configz", 31, "get nodes/configz, get nodes/proxy"},
		{"a WebSocket exec", "GET /exec/a/b/c", 37, "get nodes/proxy"},
		{"KAZ-17 a fleet newer than the newest known", "/pods,/allocatedPods", 99, "get nodes/pods"},
		{"a POST", "POST /checkpoint/a/b/c", 33, "create nodes/checkpoint"},
		{"HEAD has no verb", "HEAD /metrics", 33, "* nodes/metrics"},
		{"through the API server proxy is all that helps", proxied + "/metrics", 37, "get nodes/proxy"},
		{"proxy makes pods needless", proxied + "/metrics,/pods", 37, "get nodes/proxy"},
		{"but not metrics, which proxy does not grant", proxied + "/metrics,/metrics", 37, "get nodes/metrics, get nodes/proxy"},
		{"HEAD through the API server is get", "HEAD " + proxied + "/healthz", 37, "get nodes/proxy"},
		{"proxy of another verb helps nothing", "POST /run/a/b/c,GET /pods", 33, "create nodes/proxy, get nodes/pods"},
	} {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			var got []string
			for _, n := range privilege.Needs(calls(t, c.calls), privilege.Fleet{Oldest: c.oldest}) {
				got = append(got, n.String())
			}
			if all := strings.Join(got, ", "); all != c.want {
				t.Errorf("Needs(%s, %v) = %s, want %s", c.calls, c.oldest, all, c.want)
			}
		})
	}
}

func TestNeedsOfHardenedKubelets(t *testing.T) {
	t.Run("KAZ-11 KAZ-12 a WebSocket exec needs create", func(t *testing.T) {
		got := privilege.Needs(calls(t, "GET /exec/a/b/c,GET /pods"), privilege.Fleet{Oldest: 33, HardenedVerbs: true})
		if len(got) != 2 || got[0].String() != "create nodes/proxy" || got[1].String() != "get nodes/pods" {
			t.Errorf("Needs = %v, want create nodes/proxy and get nodes/pods", got)
		}
	})
}

func rule(groups, resources, verbs string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: strings.Split(groups, " "), Resources: strings.Fields(resources), Verbs: strings.Fields(verbs)}
}

func TestMinimize(t *testing.T) {
	get := privilege.Needs(calls(t, "/pods,/stats/summary"), privilege.Fleet{Oldest: 33})
	smallest := rule("", "nodes/pods nodes/stats", "get")
	for _, c := range []struct {
		name         string
		before, want []rbacv1.PolicyRule
		wide         []int
	}{
		{"nothing to start from", nil, []rbacv1.PolicyRule{smallest}, nil},
		{"a rule about the kubelet alone", []rbacv1.PolicyRule{rule("", "nodes/proxy", "*"), rule("", "pods", "get")}, []rbacv1.PolicyRule{smallest, rule("", "pods", "get")}, nil},
		{"a mixed rule keeps the rest", []rbacv1.PolicyRule{rule("", "pods nodes nodes/proxy nodes/status", "get list")}, []rbacv1.PolicyRule{rule("", "pods nodes nodes/status", "get list"), smallest}, nil},
		{"what was there keeps its order", []rbacv1.PolicyRule{rule("", "nodes/stats nodes/spec nodes/pods", "get")}, []rbacv1.PolicyRule{rule("", "nodes/stats nodes/pods", "get")}, nil},
		{"several rules become one", []rbacv1.PolicyRule{rule("", "nodes/stats", "get"), rule("", "pods", "get"), rule("", "nodes/proxy", "get")}, []rbacv1.PolicyRule{rule("", "nodes/stats nodes/pods", "get"), rule("", "pods", "get")}, nil},
		{"what grants nothing goes too", []rbacv1.PolicyRule{rule("", "nodes/*", "get")}, []rbacv1.PolicyRule{smallest}, nil},
		{"a wildcard stays and is told", []rbacv1.PolicyRule{rule("", "*", "get"), rule("", "*/proxy", "get"), rule("apps", "*", "get")}, []rbacv1.PolicyRule{rule("", "*", "get"), rule("", "*/proxy", "get"), rule("apps", "*", "get"), smallest}, []int{0, 1}},
	} {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			got, err := privilege.Minimize(c.before, get)
			if err != nil || !reflect.DeepEqual(got.Rules, c.want) || !reflect.DeepEqual(got.Wide, c.wide) {
				t.Errorf("Minimize = %+v, %v, want %+v wide %v", got, err, c.want, c.wide)
			}
		})
	}
	t.Run("KAZ-12 proxy by name is no wildcard", func(t *testing.T) {
		needs := privilege.Needs(calls(t, "/containerLogs/a/b/c"), privilege.Fleet{})
		if got, err := privilege.Minimize(nil, needs); err != nil || got.Wide != nil || len(got.Rules) != 1 {
			t.Errorf("Minimize = %+v, %v, want one rule and nothing wide", got, err)
		}
	})
	t.Run("KAZ-12 order is kept verb by verb", func(t *testing.T) {
		before := []rbacv1.PolicyRule{rule("", "nodes/proxy", "create"), rule("", "nodes/configz nodes/proxy", "get")}
		needs := privilege.Needs(calls(t, "/flagz,/configz,POST /run/a/b/c"), privilege.Fleet{Oldest: 31})
		if got, err := privilege.Minimize(before, needs); err != nil || !reflect.DeepEqual(got.Rules, before) {
			t.Errorf("Minimize = %+v, %v, want the same", got, err)
		}
	})
	t.Run("KAZ-12 resourceNames are not widened", func(t *testing.T) {
		named := rule("", "nodes/proxy", "get")
		named.ResourceNames = []string{"n1"}
		if got, err := privilege.Minimize([]rbacv1.PolicyRule{named}, get); !errors.Is(err, privilege.ErrResourceNames) || got.Rules != nil {
			t.Errorf("Minimize = %+v, %v, want ErrResourceNames", got, err)
		}
	})
}

func TestLint(t *testing.T) {
	for _, c := range []struct {
		name string
		kind string
		rule rbacv1.PolicyRule
		want string
	}{
		{"get on proxy runs commands", "ClusterRole", rule("", "nodes/proxy", "get"), "runs-through-get nodes/proxy"},
		{"get on */proxy too", "ClusterRole", rule("", "*/proxy", "get"), "wildcard-resources */proxy, runs-through-get */proxy"},
		{"create on proxy", "ClusterRole", rule("", "nodes/proxy", "create"), "runs-commands nodes/proxy"},
		{"every verb on proxy", "ClusterRole", rule("", "nodes/proxy", "*"), "runs-commands nodes/proxy"},
		{"every resource", "ClusterRole", rule("*", "*", "get"), "wildcard-resources *, runs-through-get *"},
		{"cluster admin", "ClusterRole", rule("*", "*", "*"), "wildcard-resources *, runs-commands *"},
		{"every resource of another group", "ClusterRole", rule("apps", "*", "*"), ""},
		{"delete on proxy runs nothing", "ClusterRole", rule("", "nodes/proxy", "delete"), ""},
		{"every verb on pods", "ClusterRole", rule("", "nodes/pods", "*"), "wildcard-verbs nodes/pods"},
		{"nodes/*", "ClusterRole", rule("", "nodes/*", "get"), "nodes-wildcard nodes/*"},
		{"logs for log", "ClusterRole", rule("", "nodes/logs", "get"), "unknown-subresource nodes/logs"},
		{"spec is gone", "ClusterRole", rule("", "nodes/spec", "get"), "unknown-subresource nodes/spec"},
		{"exec is proxy", "ClusterRole", rule("", "nodes/exec", "create"), "unknown-subresource nodes/exec"},
		{"another group", "ClusterRole", rule("apps", "nodes/pods", "get"), "wrong-group nodes/pods"},
		{"a Role", "Role", rule("", "nodes/proxy nodes", "get"), "namespaced nodes/proxy"},
		{"a Role's wildcard reaches no node", "Role", rule("", "*", "*"), ""},
		{"list and watch", "ClusterRole", rule("", "nodes/stats", "get list watch"), "unasked-verb list, unasked-verb watch"},
		{"list of other things beside it", "ClusterRole", rule("", "nodes/stats pods", "get list"), ""},
		{"least privilege", "ClusterRole", rule("", "nodes/pods nodes/metrics nodes/log nodes/statusz", "get"), ""},
		{"what the API server serves", "ClusterRole", rule("", "nodes nodes/status pods/log", "get list patch"), ""},
	} {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			var got []string
			for _, f := range privilege.Lint(c.kind, []rbacv1.PolicyRule{{}, c.rule}) {
				got = append(got, string(f.Code)+" "+f.Subject)
				if f.Rule != 1 || f.Message == "" {
					t.Errorf("finding = %+v, want rule 1 and a message", f)
				}
			}
			if all := strings.Join(got, ", "); all != c.want {
				t.Errorf("Lint = %s, want %s", all, c.want)
			}
		})
	}
	t.Run("KAZ-12 says what is meant", func(t *testing.T) {
		for resource, want := range map[string]string{"nodes/logs": "nodes/log is meant", "nodes/spec": "gone", "nodes/exec": "are nodes/proxy", "nodes/what": "no kubelet asks for it"} {
			if got := privilege.Lint("ClusterRole", []rbacv1.PolicyRule{rule("", resource, "get")}); !strings.HasSuffix(got[0].Message, want) {
				t.Errorf("Lint(%s) = %q, want …%q", resource, got[0].Message, want)
			}
		}
	})
}
