package e2e_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/credprovider/pulled"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/kubelet/puller"
	"github.com/lanyard-dev/lanyard/examples/stack"
)

// TestCredentialPulls is the end-to-end list of KEP-4412 and its part on KEP-2535, on
// our runtime and on containerd under the same kubelet.
func TestCredentialPulls(t *testing.T) {
	t.Parallel()
	p := pullCluster(t, stack.Node{Name: ours}, stack.Node{Name: containerd, Runtime: stack.Containerd})
	for _, node := range []string{ours, containerd} {
		t.Run(node, func(t *testing.T) {
			p.configure(t, node, nil, p.teamProvider(), p.private.NodeProvider(asNode, "/shared"))
			for _, name := range []string{"team-a", "team-b", "team-c"} {
				p.account(t, name, nil)
			}
			s := scenario{p, node, p.push(t, "team-a/app:"+node), p.push(t, "team-b/app:"+node)}
			s.own(t)
			s.sharing(t)
			s.restart(t)
			s.crash(t)
		})
	}
	t.Run("CRP-22 no token and no password in any log, event, metric, record or other file", func(t *testing.T) {
		p.noSecrets(t)
	})
}

// scenario is the list on one node; imageA and imageB are team a's and team b's.
type scenario struct {
	*pulls
	node           string
	imageA, imageB string
}

// pod is a name of this node's.
func (s scenario) pod(name string) string { return s.node + "-" + name }

// own is who pulls what, and with which request.
func (s scenario) own(t *testing.T) {
	t.Run("CRP-25 STK-7 two workloads pull, each its own repository and not the other's", func(t *testing.T) {
		s.runs(t, s.pod("a"), s.node, "team-a", s.imageA)
		s.runs(t, s.pod("b"), s.node, "team-b", s.imageB)
		s.refused(t, s.pod("a-wants-b"), s.node, "team-a", s.imageB)
		s.refused(t, s.pod("b-wants-a"), s.node, "team-b", s.imageA)
		for _, pod := range []string{"a-wants-b", "b-wants-a"} {
			if e := s.exchange(t, s.pod(pod)); e.Granted {
				t.Errorf("the registry granted %+v", e)
			}
			s.event(t, s.pod(pod), puller.EventReason, asWorkload)
			s.event(t, s.pod(pod), "Failed", "Failed to pull image")
		}
		s.event(t, s.pod("a"), "Pulled", s.imageA)
	})
	t.Run("CRP-9 the token is bound to the pod by name and UID", func(t *testing.T) {
		pod, err := s.AwaitPod(t.Context(), "default", s.pod("a"))
		if err != nil {
			t.Fatal(err)
		}
		if e := s.exchange(t, pod.Name); e.Workload.PodUID != string(pod.UID) || e.Workload.Account() != "default/team-a" {
			t.Errorf("exchange of %+v, want pod UID %s of default/team-a", e.Workload, pod.UID)
		}
	})
	t.Run("CRP-6 the plugin is sent the configured annotations only", func(t *testing.T) {
		if got, want := s.exchange(t, s.pod("a")).Annotations, map[string]string{tenant: "team-a"}; !maps.Equal(got, want) {
			t.Errorf("annotations %v, want %v", got, want)
		}
	})
	t.Run("CRP-7 an account without the required annotation: no run, an event that names it, the pull goes on without", func(t *testing.T) {
		s.account(t, "bare", map[string]string{note: "x"})
		message := s.refused(t, s.pod("bare"), s.node, "bare", s.imageA)
		s.event(t, s.pod("bare"), puller.EventReason, tenant, "default/bare")
		if s.asked(s.pod("bare")) || !strings.Contains(message, "team-a/app") {
			t.Errorf("the plugin was run, or the pull did not go on: %s", message)
		}
	})
	t.Run("CRP-18 one binary under two names, with and without tokens", func(t *testing.T) {
		shared := s.push(t, "shared/app:"+s.node)
		if s.untouched(t, "node", s.pod("shared"), s.node, "team-b", shared) {
			t.Error("the registry was not asked as the node")
		}
		t.Run("CRP-20 what the node pulled is every pod's", func(t *testing.T) {
			if !s.untouched(t, "node", s.pod("shared-again"), s.node, "team-a", shared) {
				t.Error("pulled again")
			}
		})
	})
}

// sharing is who may use what is on the node.
func (s scenario) sharing(t *testing.T) {
	t.Run("CRP-20 the same account uses the image without a pull", func(t *testing.T) {
		if !s.untouched(t, "default/team-a", s.pod("a-again"), s.node, "team-a", s.imageA) {
			t.Error("the registry was asked")
		}
	})
	t.Run("CRP-20 another account pulls again", func(t *testing.T) {
		s.runs(t, s.pod("c"), s.node, "team-c", s.imageA)
		if e := s.exchange(t, s.pod("c")); !e.Granted || e.Repository != "team-a/app" {
			t.Errorf("exchange %+v", e)
		}
	})
	t.Run("CRP-20 an account that was deleted and made again pulls again", func(t *testing.T) {
		again := s.account(t, "team-c", nil)
		s.runs(t, s.pod("c-again"), s.node, "team-c", s.imageA)
		if e := s.exchange(t, s.pod("c-again")); e.Workload.AccountUID != string(again.UID) {
			t.Errorf("exchange as UID %s, want %s", e.Workload.AccountUID, again.UID)
		}
	})
	t.Run("CRP-30 a record outlives a change of annotations", func(t *testing.T) {
		s.annotate(t, "team-a", "moved")
		if !s.untouched(t, "default/team-a", s.pod("a-moved"), s.node, "team-a", s.imageA) {
			t.Error("the registry was asked")
		}
	})
}

// annotate changes the value of the required annotation.
func (p *pulls) annotate(t *testing.T, account, value string) {
	t.Helper()
	api := p.Admin().CoreV1().ServiceAccounts("default")
	got, err := api.Get(t.Context(), account, metav1.GetOptions{})
	if err == nil {
		got.Annotations[tenant] = value
		_, err = api.Update(t.Context(), got, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// restart turns the feature off by the KEP's steps, and on again.
func (s scenario) restart(t *testing.T) {
	gate := func(on bool) func(*kubelet.Config) {
		return func(c *kubelet.Config) {
			c.FeatureGates["KubeletServiceAccountTokenForCredentialProviders"] = on
		}
	}
	first := s.hash(t)
	fresh := s.push(t, "team-a/app:fresh-"+s.node)
	t.Run("CRP-21 providers removed and gate off: nobody pulls as a workload, after a restart", func(t *testing.T) {
		s.configure(t, s.node, gate(false), s.private.NodeProvider(asNode, "/shared"))
		if s.hash(t) == first {
			t.Error("the hash in the metric is that of the first configuration")
		}
		s.refused(t, s.pod("a-off"), s.node, "team-a", fresh)
		if s.asked(s.pod("a-off")) {
			t.Error("a password was asked for")
		}
	})
	t.Run("CRP-30 CRP-20 records outlive a restart and a configuration without the provider", func(t *testing.T) {
		if !s.untouched(t, "default/team-a", s.pod("a-kept"), s.node, "team-a", s.imageA) {
			t.Error("the registry was asked")
		}
		s.refused(t, s.pod("b-kept"), s.node, "team-b", s.imageA)
	})
	t.Run("CRP-21 enabled again: a configuration counts from the next restart", func(t *testing.T) {
		use, err := s.private.Install("providers-"+s.node, s.teamProvider(), s.private.NodeProvider(asNode, "/shared"))
		if err != nil {
			t.Fatal(err)
		}
		s.refused(t, s.pod("a-too-soon"), s.node, "team-a", fresh)
		if err := s.RestartKubelet(t.Context(), s.node, func(c *kubelet.Config) { use(c); gate(true)(c) }); err != nil {
			t.Fatal(err)
		}
		if got := s.hash(t); got != first {
			t.Errorf("hash %s, want %s as before", got, first)
		}
		s.runs(t, s.pod("a-on"), s.node, "team-a", fresh)
	})
}

var configInfo = regexp.MustCompile(`kubelet_credential_provider_config_info\{hash="(sha256:[0-9a-f]{64})"\} 1`)

// hash is that of the configuration in the kubelet's metrics.
func (s scenario) hash(t *testing.T) (hash string) {
	t.Helper()
	if err := s.AwaitNode(t.Context(), s.node); err != nil {
		t.Fatal(err)
	}
	await(t, "the hash of the configuration", func() bool {
		found := configInfo.FindStringSubmatch(kubectl(t, s.AdminFile(), "get", "--raw", "/api/v1/nodes/"+s.node+"/proxy/metrics").out)
		if found == nil {
			return false
		}
		hash = found[1]
		return true
	})
	return hash
}

// crash leaves an image on the node whose pull was intended and never recorded.
func (s scenario) crash(t *testing.T) {
	t.Run("CRP-20 a crash between pull and record: the image is nobody's until it is pulled again", func(t *testing.T) {
		half, preloaded := s.push(t, "team-a/app:half-"+s.node), s.push(t, "team-a/app:preloaded-"+s.node)
		s.Kubelet(s.node).Kill()
		records, err := pulled.Open(filepath.Join(s.dir, s.node, "kubelet"), pulled.Options{})
		if err == nil {
			err = records.Begin(half)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, image := range []string{half, preloaded} {
			s.fetch(t, image)
		}
		if err := s.Kubelet(s.node).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.refused(t, s.pod("b-half"), s.node, "team-b", half)
		s.runs(t, s.pod("b-preloaded"), s.node, "team-b", preloaded) // the default policy leaves those alone
		s.runs(t, s.pod("a-half"), s.node, "team-a", half)
		if e := s.exchange(t, s.pod("a-half")); !e.Granted {
			t.Errorf("exchange %+v", e)
		}
		record, found, err := records.Record(s.imageID(t, half))
		if err != nil || !found || !slices.ContainsFunc(slices.Collect(maps.Values(record.CredentialMapping)), func(a pulled.Access) bool {
			return len(a.Accounts) == 1 && a.Accounts[0].Name == "team-a" && !a.Everyone
		}) {
			t.Errorf("record %+v, %v, %v, want team-a alone", record, found, err)
		}
	})
}

// fetch pulls an image through the node's runtime as if no kubelet were there, with
// a standing login.
func (s scenario) fetch(t *testing.T, image string) {
	t.Helper()
	login := s.private.NodeLogin()
	_, err := s.images(t).PullImage(t.Context(), &runtimeapi.PullImageRequest{
		Image: &runtimeapi.ImageSpec{Image: image}, Auth: &runtimeapi.AuthConfig{Username: login.Username, Password: login.Password},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s scenario) imageID(t *testing.T, image string) string {
	t.Helper()
	status, err := s.images(t).ImageStatus(t.Context(), &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: image}})
	if err != nil {
		t.Fatal(err)
	}
	return status.GetImage().GetId()
}

func (s scenario) images(t *testing.T) runtimeapi.ImageServiceClient {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+s.RuntimeSocket(s.node), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return runtimeapi.NewImageServiceClient(conn)
}
