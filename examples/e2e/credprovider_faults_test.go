package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/credprovider/audience"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/kubelet/puller"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/redact"
)

// vault is an audience that no role of the cluster gives to nodes.
const vault = "vault.example.io"

// TestCredentialFaults has a provider that cannot get tokens, then one whose plugin
// fails, beside one that works; and kubelets that must not start.
func TestCredentialFaults(t *testing.T) {
	t.Parallel()
	p := pullCluster(t, stack.Node{Name: ours})
	other := p.private.Provider("vault", "/team")
	other.TokenAttributes.ServiceAccountTokenAudience = vault
	other.Args = append(other.Args, redact.New("--audience="+vault))
	p.account(t, "team-a", nil)
	image := p.push(t, "team-a/app:v1")
	s := scenario{pulls: p, node: ours, imageA: image}
	p.configure(t, ours, nil, other, p.teamProvider())
	t.Run("CRP-29 the API server refuses the token: an event names audience and account, other providers work", func(t *testing.T) {
		p.runs(t, "no-role", ours, "team-a", image)
		p.event(t, "no-role", puller.EventReason, "vault", vault, "default/team-a", "is not authorized to request tokens for")
		page := kubeletMetrics(t, p.cluster, ours)
		if got := metric(t, page, runs("vault")); got != 0 {
			t.Errorf("the plugin without a token ran %d times", got)
		}
		t.Run("CRP-16 the run of the other is in the metrics", func(t *testing.T) {
			if got := metric(t, page, runs(asWorkload)); got != 1 {
				t.Errorf("%d runs, want 1", got)
			}
		})
	})
	t.Run("CRP-29 CRP-17 CRP-16 the next pull tries again; the plugin that then fails is counted and leaves the other working", func(t *testing.T) {
		p.allow(t, rbacv1.PolicyRule{Verbs: []string{audience.Verb}, APIGroups: []string{""}, Resources: []string{vault}})
		p.runs(t, "with-role", ours, "team-a", p.push(t, "team-a/app:v2"))
		p.event(t, "with-role", puller.EventReason, "vault")
		page := kubeletMetrics(t, p.cluster, ours)
		failed := metric(t, page, `kubelet_credential_provider_plugin_errors_total{plugin_name="vault"}`)
		if ran := metric(t, page, runs("vault")); ran != 1 || failed != 1 {
			t.Errorf("%d runs, %d errors, want one of each", ran, failed)
		}
		log, err := os.ReadFile(filepath.Join(p.dir, ours, "kubelet.log"))
		if err != nil || !strings.Contains(string(log), "service account token rejected") {
			t.Errorf("the kubelet's log lacks what the plugin said: %v", err)
		}
	})
	t.Run("CRP-20 AlwaysVerify: an image that was there before the kubelet is for those only who can pull it", func(t *testing.T) {
		preloaded := p.push(t, "team-a/app:preloaded")
		s.fetch(t, preloaded)
		p.account(t, "team-b", nil)
		p.configure(t, ours, func(c *kubelet.Config) { c.ImagePullCredentialsVerificationPolicy = pulled.PolicyAlwaysVerify }, p.teamProvider())
		p.refused(t, "b-preloaded", ours, "team-b", preloaded)
		p.runs(t, "a-preloaded", ours, "team-a", preloaded)
		if !p.asked("a-preloaded") {
			t.Error("team a used it without a pull")
		}
	})
	t.Run("CRP-28 CRP-3 what a kubelet does not start with", s.refusals)
}

// runs is the sample that counts a plugin's runs.
func runs(plugin string) string {
	return `kubelet_credential_provider_plugin_duration_count{plugin_name="` + plugin + `"}`
}

// allow gives a right to all nodes.
func (p *pulls) allow(t *testing.T, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := metav1.ObjectMeta{Name: "allowed-to-nodes"}
	_, err := p.Admin().RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Admin().RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects:   nodesGroup,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// refusals are configurations that end a kubelet at its start, with the reason in its log.
func (s scenario) refusals(t *testing.T) {
	use, err := s.private.Install("providers-refused", s.teamProvider())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		change     func(*kubelet.Config)
	}{
		{"CRP-28 a provider without its binary", asWorkload, func(c *kubelet.Config) { c.ImageCredentialProviderBinDir = t.TempDir() }},
		{"CRP-3 tokenAttributes with the gate off", "tokenAttributes", func(c *kubelet.Config) {
			c.FeatureGates["KubeletServiceAccountTokenForCredentialProviders"] = false
		}},
		{"CRP-1 a configuration that is not there", "no-such-file", func(c *kubelet.Config) { c.ImageCredentialProviderConfig = "/no-such-file" }},
		{"CRP-28 a configuration without a directory of plugins", "one without the other", func(c *kubelet.Config) { c.ImageCredentialProviderBinDir = "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := s.RestartKubelet(t.Context(), s.node, func(config *kubelet.Config) {
				config.FeatureGates = map[string]bool{}
				use(config)
				c.change(config)
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("RestartKubelet = %v, want an error that names %q", err, c.want)
			}
		})
	}
	if err := s.RestartKubelet(t.Context(), s.node, func(c *kubelet.Config) { c.FeatureGates = nil; use(c) }); err != nil {
		t.Fatal(err)
	}
}
