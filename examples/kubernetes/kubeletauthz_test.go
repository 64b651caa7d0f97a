package kubernetes_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// filled is a route's path with nobody's names in it.
func filled(path string) string {
	return strings.NewReplacer("{namespace}", "none", "{pod}", "none", "{container}", "none", "{path}", "none", "{profile}", "cmdline").Replace(path)
}

// paths are those of every route, and some that are none, or are written oddly.
func paths() []string {
	var out []string
	for _, e := range kubeletauthz.Endpoints() {
		out = append(out, filled(e.Path))
	}
	slices.Sort(out)
	out = append(slices.Compact(out),
		"/", "/runningpods", "/runningPods/", "/runningpods/none", "/pods/", "/pods/none", "/Pods", "/podsx", "/exec", "/debug/pprof/",
		"/healthz/", "/healthz/none", "/metrics/", "/metrics/none", "/logs", "/stats", "/stats/", "/configz/none", "/spec", "/spec/",
		"//pods", "/./pods", "/pods/../exec/a/b/c", "/stats//summary", "/%70ods", "/pods%2F..%2Fexec", "/allocatedPods/none")
	return slices.AppendSeq(out, maps.Keys(unclean))
}

// unclean are paths that reach the kubelet's authorization and that kubeletauthz does not trust: it asks for proxy
// alone. The kubelet goes by the first segment, as for the path beside it.
var unclean = map[string]string{
	"/pods/..%2Fexec": "/pods/", "/logs/..%2Fnone": "/logs/", "/logs/a;b": "/logs/", "/run/none%2Fnone/none": "/run/none/none/none",
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// answer is what a caller gets.
type answer struct {
	code int
	body string // of a refusal
}

func (a answer) refused() bool { return a.code == http.StatusForbidden }

// same compares whether, and in which words, both refuse.
func (a answer) same(other answer, method string) bool {
	return a.refused() == other.refused() && (method == http.MethodHead || a.body == other.body)
}

func TestKubeletAuthz(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	all := callers()
	admit(t, c, all)
	stranger, err := c.User("stranger", &api.AuthInfo{})
	if err != nil {
		t.Fatal(err)
	}
	p := predictor(t, c)
	cells := ask(t, c, append(all, &caller{name: "stranger", user: stranger}))
	unknown := cells["stranger"]
	t.Run("STK-13 KAZ-1 KAZ-2 KAZ-3 KAZ-4 KAZ-10 every path, method and caller as predicted", func(t *testing.T) {
		compared, before := 0, 0
		differ := map[string]int{}
		for _, who := range all {
			for cell, got := range cells[who.name] {
				if unknown[cell].code != http.StatusUnauthorized {
					// The kubelet's router answers before anybody is asked.
					before++
					if got.code != unknown[cell].code || got.refused() {
						t.Errorf("%s: %s: %d, without credentials %d", who.name, cell, got.code, unknown[cell].code)
					}
					continue
				}
				compared++
				method, path, _ := strings.Cut(cell, " ")
				if like := unclean[path]; like != "" {
					if !got.same(p.answer(t, who, cell), method) {
						differ[path]++
					}
					cell = method + " " + like
				}
				if want := p.answer(t, who, cell); !got.same(want, method) {
					t.Errorf("%s: %s %s: the kubelet's answer is %+v, predicted %+v", who.name, method, path, got, want)
				}
			}
		}
		if differ["/run/none%2Fnone/none"] > 0 || len(differ) != len(unclean)-1 {
			t.Errorf("paths that are not clean differ in %v answers, want all in some, but not what asks for proxy anyway", differ)
		}
		t.Logf("%d answers as predicted, %d before authorization; other answers on paths that are not clean: %v", compared, before, differ)
	})
	t.Run("STK-13 KAZ-3 KAZ-5 KAZ-16 the reviews in the audit log are those predicted", func(t *testing.T) {
		p.checkReviews(t, c, all)
	})
	t.Run("STK-13 KAZ-13 every endpoint is a route of the real kubelet", func(t *testing.T) {
		for _, e := range kubeletauthz.Endpoints() {
			want := http.StatusUnauthorized
			if e.Path == "/allocatedPods" { // an alpha gate has it
				want = http.StatusNotFound
			}
			if got := unknown[e.Method+" "+filled(e.Path)].code; got != want {
				t.Errorf("%s %s without credentials: %d, want %d", e.Method, e.Path, got, want)
			}
		}
	})
	t.Run("STK-13 KAZ-11 get nodes/proxy runs commands", func(t *testing.T) { getRuns(t, c, all, p) })
	t.Run("STK-13 KAZ-12 what minimize prints is enough, and without any part it is not", func(t *testing.T) { minimized(t, c) })
}

// getRuns runs a command by a GET, as the kubelet's WebSocket has it.
func getRuns(t *testing.T, c *kubernetes.Cluster, all []*caller, p *prediction) {
	t.Helper()
	pod := run(t, c, &corev1.Pod{})
	path := "/exec/" + pod.Namespace + "/" + pod.Name + "/app"
	for _, who := range all {
		if who.name != "proxy-get" && who.name != "stats" {
			continue
		}
		want := p.answer(t, who, "GET "+path)
		executor, err := remotecommand.NewWebSocketExecutor(who.user.Config, "GET", c.Node("").URL()+path+"?output=1&command=/reporter")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out}); (err != nil) != want.refused() {
			t.Errorf("%s: exec by GET: %v, predicted %+v", who.name, err, want)
		}
		if !want.refused() {
			reported(t, out.String())
		}
		verdict, err := p.authorizer.Authorize(t.Context(), who.known, p.hardened.Map("GET", path, ""))
		if err != nil || verdict.Allowed {
			t.Errorf("%s: hardened: %+v, %v, want a refusal", who.name, verdict, err)
		}
	}
}

// agentCalls are what a small agent asks a kubelet.
var agentCalls = []string{"GET /pods", "GET /stats/summary", "GET /metrics/cadvisor", "GET /configz"}

// minimized gives the role that the tool prints to one service account, and the role without a part to others.
func minimized(t *testing.T, c *kubernetes.Cluster) {
	t.Helper()
	agent := &caller{name: "agent", account: true, rules: printedRules(t, "--min-version", "1.37", "--endpoints", strings.Join(agentCalls, ","))}
	all := []*caller{agent}
	for r, rule := range agent.rules {
		for i := range rule.Resources {
			less := &caller{name: fmt.Sprintf("agent-%d-%d", r, i), account: true}
			less.rules = slices.Clone(agent.rules)
			less.rules[r].Resources = slices.Delete(slices.Clone(rule.Resources), i, i+1)
			if len(rule.Resources) == 1 {
				less.rules = slices.Delete(less.rules, r, r+1)
			}
			all = append(all, less)
		}
	}
	if len(all) != 1+len(agentCalls) {
		t.Fatalf("the role is %+v, want a part for each of %q", agent.rules, agentCalls)
	}
	admit(t, c, all)
	p := predictor(t, c)
	for _, who := range all {
		refused := 0
		for _, call := range agentCalls {
			got, err := who.ask(t.Context(), c.Node(""), call)
			if err != nil {
				t.Fatal(err)
			}
			if want := p.answer(t, who, call); !got.same(want, "GET") {
				t.Errorf("%s: %s: the kubelet's answer is %+v, predicted %+v", who.name, call, got, want)
			}
			if got.refused() {
				refused++
			}
		}
		if want := min(1, len(who.name)-len(agent.name)); refused != want {
			t.Errorf("%s is refused %d calls, want %d", who.name, refused, want)
		}
	}
	// One review for each call of the whole role's, without nodes/proxy.
	p.checkReviews(t, c, all)
}

// printedRules are those of the ClusterRole that `kubeletauthz minimize` prints.
func printedRules(t *testing.T, args ...string) []rbacv1.PolicyRule {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "-buildvcs=false", ".", "minimize"}, args...)...)
	cmd.Dir = filepath.Join("..", "..", "kubeletauthz", "cmd", "kubeletauthz")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("minimize: %v: %s", err, errs.Bytes())
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return role.Rules
}
