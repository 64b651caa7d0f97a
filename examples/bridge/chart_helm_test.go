package bridge_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// chartHelm has Helm itself install, upgrade and uninstall a release.
func chartHelm(t *testing.T, c *kubernetes.Cluster) {
	before := everything(t, c)
	dir, err := bridge.ChartDir()
	if err != nil {
		t.Fatal(err)
	}
	chart, err := loader.LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	config := helmOf(t, c, "security")
	generated := func() (out [4][]byte) {
		for i, part := range [4][2]string{
			{"lanyard-bridge-webhook-tls", "ca.crt"},
			{"lanyard-bridge-webhook-tls", "tls.crt"},
			{"lanyard-bridge-webhook-tls", "tls.key"},
			{"lanyard-bridge-webhook-path", "path-secret"},
		} {
			secret, err := c.Client().CoreV1().Secrets("security").Get(t.Context(), part[0], metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			out[i] = secret.Data[part[1]]
		}
		return out
	}

	install := action.NewInstall(config)
	install.ReleaseName, install.Namespace = "bridge", "security"
	release, err := install.RunWithContext(t.Context(), chart, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("BRG-9 helm install says what is yet to be done", func(t *testing.T) {
		for _, want := range []string{"lanyard-bridge keys install --namespace security", "level Metadata", "but in kube-system, security, and for members of lanyard:break-glass"} {
			if !strings.Contains(release.Info.Notes, want) {
				t.Errorf("the notes lack %q:\n%s", want, release.Info.Notes)
			}
		}
	})
	first := generated()
	t.Run("BRG-9 a second installation is refused", func(t *testing.T) {
		install := action.NewInstall(helmOf(t, c, "team"))
		install.ReleaseName, install.Namespace = "other", "team"
		if _, err := install.RunWithContext(t.Context(), chart, nil); err == nil || !strings.Contains(err.Error(), "invalid ownership") {
			t.Errorf("install: %v, want an ownership fault", err)
		}
	})
	t.Run("BRG-9 helm upgrade keeps the certificate and the path", func(t *testing.T) {
		upgrade := action.NewUpgrade(config)
		upgrade.Namespace = "security"
		if _, err := upgrade.RunWithContext(t.Context(), "bridge", chart, mapping{"webhook": mapping{"failurePolicy": "Ignore"}}); err != nil {
			t.Fatal(err)
		}
		for i, part := range generated() {
			if len(part) == 0 || !bytes.Equal(part, first[i]) {
				t.Errorf("generated part %d is another after the upgrade", i)
			}
		}
		hook, err := c.Client().AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "zzz-lanyard-exec", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := hook.Webhooks[0]; *got.FailurePolicy != "Ignore" || !bytes.Equal(got.ClientConfig.CABundle, first[0]) || !strings.Contains(*got.ClientConfig.Service.Path, string(first[3])) {
			t.Errorf("failure policy %s, or authority and path are not the kept ones", *got.FailurePolicy)
		}
	})
	t.Run("BRG-9 a deleted certificate is made anew by the next upgrade", func(t *testing.T) {
		if err := c.Client().CoreV1().Secrets("security").Delete(t.Context(), "lanyard-bridge-webhook-tls", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		upgrade := action.NewUpgrade(config)
		upgrade.Namespace = "security"
		if _, err := upgrade.RunWithContext(t.Context(), "bridge", chart, nil); err != nil {
			t.Fatal(err)
		}
		if second := generated(); bytes.Equal(second[1], first[1]) || !bytes.Equal(second[3], first[3]) {
			t.Error("the certificate is the old one, or the path another")
		}
	})
	t.Run("BRG-9 helm uninstall leaves nothing but keys", func(t *testing.T) {
		keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "lanyard-bridge-signing"}}
		if _, err := c.Client().CoreV1().Secrets("security").Create(t.Context(), keys, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := action.NewUninstall(config).Run("bridge"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Client().CoreV1().Secrets("security").Get(t.Context(), keys.Name, metav1.GetOptions{}); err != nil {
			t.Error("the keys:", err)
		}
		after := everything(t, c)
		delete(after, "secrets security/"+keys.Name)
		for left := range after {
			if !before[left] {
				t.Error("left:", left)
			}
		}
		if missing := slices.DeleteFunc(slices.Sorted(maps.Keys(before)), func(k string) bool { return after[k] }); len(missing) > 0 {
			t.Errorf("gone with it: %q", missing)
		}
	})
}

// helmOf is Helm's configuration for the namespace, which stores releases as Secrets there.
func helmOf(t *testing.T, c *kubernetes.Cluster, namespace string) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	kubeconfig, cache := c.Admin().Kubeconfig, t.TempDir()
	flags.KubeConfig, flags.CacheDir, flags.Namespace = &kubeconfig, &cache, &namespace
	config := new(action.Configuration)
	if err := config.Init(flags, namespace, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	return config
}

// everything is each object of the cluster that is not the API server's own doing, as "RESOURCE NAMESPACE/NAME".
func everything(t *testing.T, c *kubernetes.Cluster) map[string]bool {
	t.Helper()
	asked, err := discovery.NewDiscoveryClientForConfig(c.Admin().Config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := asked.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(c.Admin().Config)
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"events", "leases", "endpoints", "endpointslices", "ipaddresses", "componentstatuses", "controllerrevisions"}
	out := map[string]bool{}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(own, resource.Name) {
				continue
			}
			objects, err := client.Resource(group.WithResource(resource.Name)).List(t.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			if err != nil {
				t.Fatal(resource.Name, err)
			}
			for _, o := range objects.Items {
				out[fmt.Sprintf("%s %s/%s", resource.Name, o.GetNamespace(), o.GetName())] = true
			}
		}
	}
	return out
}
