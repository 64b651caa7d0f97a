package e2e_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/stack"
)

// agents are users by token, each with one permission on nodes.
const agents = `tok-proxy,proxy-agent,1,"agents"
tok-configz,configz-agent,2,"agents"
tok-healthz,healthz-agent,3,"agents"
tok-pods,pods-agent,4,"agents"
`

// agentRoles gives each agent its subresource.
func agentRoles() string {
	var b strings.Builder
	for _, sub := range []string{"proxy", "configz", "healthz", "pods"} {
		fmt.Fprintf(&b, `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s-agent}
rules: [{apiGroups: [""], resources: [nodes/%[1]s], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s-agent}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s-agent}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s-agent}]
`, sub)
	}
	return b.String()
}

// lastToggleable is the version before the gate is locked.
const lastToggleable = 35

// authzCluster is a cluster without pods whose gate can be set, with the agents.
func authzCluster(t *testing.T, apiserver bool, nodes ...stack.Node) (*cluster, []string) {
	t.Helper()
	dir := t.TempDir()
	tokens, roles := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "agents.yaml")
	for file, text := range map[string]string{tokens: agents, roles: agentRoles()} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"--token-auth-file=" + tokens, fmt.Sprintf("--emulated-minor=%d", lastToggleable)}
	c := ownWithoutPods(t, stack.Options{Nodes: nodes, Manifests: []string{roles}, APIServerFlags: append(flags, fineGrained(apiserver))})
	return c, flags
}

func fineGrained(on bool) string {
	return fmt.Sprintf("--feature-gates=KubeletFineGrainedAuthz=%v", on)
}

// gated is a node whose kubelet has the gate set and remembers no answer.
func gated(name string, on bool) stack.Node {
	return stack.Node{Name: name, Configure: setGate(on)}
}

func setGate(on bool) func(*kubelet.Config) {
	return func(c *kubelet.Config) {
		c.EmulatedMinor = lastToggleable
		c.FeatureGates = map[string]bool{"KubeletFineGrainedAuthz": on}
		c.CacheAuthorizedTTL.Duration, c.CacheUnauthorizedTTL.Duration = -1, -1
	}
}

// TestFineGrainedAuthz is the integration list of KEP-2862, by its wording.
func TestFineGrainedAuthz(t *testing.T) {
	t.Parallel()
	c, _ := authzCluster(t, true, gated("on", true), gated("off", false))
	for _, row := range []struct {
		gate, agent, path string
		allowed           bool
	}{
		{"on", "proxy", "/configz", true},
		{"on", "configz", "/configz", true},
		{"on", "proxy", "/healthz", true},
		{"on", "healthz", "/healthz", true},
		{"on", "proxy", "/pods/", true},
		{"on", "pods", "/pods/", true},
		{"off", "proxy", "/configz", true},
		{"off", "configz", "/configz", false},
		{"off", "proxy", "/healthz", true},
		{"off", "healthz", "/healthz", false},
		{"off", "proxy", "/pods/", true},
		{"off", "pods", "/pods/", false},
		{"on", "pods", "/configz", false},
		{"on", "healthz", "/pods/", false},
	} {
		t.Run(fmt.Sprintf("KAZ-7 STK-3 gate %s, nodes/%s, %s allowed %v", row.gate, row.agent, row.path, row.allowed), func(t *testing.T) {
			code, body := c.ask(t, row.gate, "tok-"+row.agent, http.MethodGet, row.path)
			if row.allowed && code != http.StatusOK || !row.allowed && code != http.StatusForbidden {
				t.Errorf("HTTP %d: %s", code, body)
			}
		})
	}
	t.Run("KAZ-7 no token is 401", func(t *testing.T) {
		if code, body := c.ask(t, "on", "", http.MethodGet, "/pods/"); code != http.StatusUnauthorized || body != "Unauthorized" {
			t.Errorf("HTTP %d: %q", code, body)
		}
	})
	t.Run("KAZ-14 kubernetes_feature_enabled on kubelet and API server", func(t *testing.T) {
		for node, want := range map[string]int{"on": 1, "off": 0} {
			page := kubeletMetrics(t, c, node)
			sample := `kubernetes_feature_enabled{name="KubeletFineGrainedAuthz",stage="BETA"}`
			if !strings.Contains(page, sample) || metric(t, page, sample) != want {
				t.Errorf("kubelet with the gate %s: %s = %d, want %d", node, sample, metric(t, page, sample), want)
			}
		}
		page := kubectl(t, c.AdminFile(), "get", "--raw", "/metrics").out
		if got := metric(t, page, `kubernetes_feature_enabled{name="KubeletFineGrainedAuthz",stage="BETA"}`); got != 1 {
			t.Errorf("API server: %d, want 1", got)
		}
	})
}

// TestUpgradeTables is both tables of KEP-2862's upgrade section, each row from the
// state before to the state after, as running components.
func TestUpgradeTables(t *testing.T) {
	t.Parallel()
	c, flags := authzCluster(t, false, gated("node", false))
	type state struct{ kubelet, apiserver bool }
	at := state{}
	move := func(t *testing.T, to state) {
		t.Helper()
		if to.apiserver != at.apiserver {
			if err := c.RestartAPIServer(t.Context(), append(flags, fineGrained(to.apiserver))...); err != nil {
				t.Fatal(err)
			}
		}
		if to.kubelet != at.kubelet {
			if err := c.RestartKubelet(t.Context(), "node", setGate(to.kubelet)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.AwaitNode(t.Context(), "node"); err != nil {
			t.Fatal(err)
		}
		at = to
	}
	off, on := state{}, state{true, true}
	for _, row := range []struct {
		name     string
		from, to state
		fine     bool // workloads with fine-grained permissions reach the kubelet
	}{
		{"upgrade both", off, on, true},
		{"upgrade only kubelet", off, state{kubelet: true}, true},
		{"upgrade only kube-apiserver", off, state{apiserver: true}, false},
		{"rollback both", on, off, false},
		{"rollback only kubelet", on, state{apiserver: true}, false},
		{"rollback only kube-apiserver", on, state{kubelet: true}, true},
	} {
		move(t, row.from)
		move(t, row.to)
		server := func(t *testing.T) {
			t.Helper()
			got := kubectl(t, c.AdminFile(), "get", "--raw", "/api/v1/nodes/node/proxy/configz")
			if got.code != 0 {
				t.Errorf("the API server does not reach the kubelet: %s", got.err)
			}
		}
		t.Run("KAZ-8 STK-7 non fine-grained permissions: "+row.name, func(t *testing.T) {
			server(t)
			if code, body := c.ask(t, "node", "tok-proxy", http.MethodGet, "/pods/"); code != http.StatusOK {
				t.Errorf("workload with nodes/proxy: HTTP %d: %s", code, body)
			}
		})
		t.Run("KAZ-8 STK-7 fine-grained permissions: "+row.name, func(t *testing.T) {
			server(t)
			if code, body := c.ask(t, "node", "tok-pods", http.MethodGet, "/pods/"); (code == http.StatusOK) != row.fine {
				t.Errorf("workload with nodes/pods: HTTP %d: %s, want it to reach the kubelet: %v", code, body, row.fine)
			}
		})
	}
}

// ask sends one request straight to a node's kubelet with a bearer token.
func (c *cluster) ask(t *testing.T, node, token, method, path string) (int, string) {
	t.Helper()
	config, err := stack.Config(c.AdminFile())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(config.CAData)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "https://"+c.kubeletAddress(t, node)+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func (c *cluster) kubeletAddress(t *testing.T, name string) string {
	t.Helper()
	node, err := c.Admin().CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s:%d", node.Status.Addresses[0].Address, node.Status.DaemonEndpoints.KubeletEndpoint.Port)
}
