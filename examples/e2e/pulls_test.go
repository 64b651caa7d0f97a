package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/registryauth"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/redact"
)

// Names of the pull tests.
const (
	tenant     = "registry.example.io/tenant" // the annotation without which nobody pulls as a workload
	note       = "registry.example.io/note"   // one that is sent where it is there
	asWorkload = "pull-as-workload"
	asNode     = "pull-as-node"
)

// pulls is a cluster with a private registry.
type pulls struct {
	*cluster
	private *stack.Private
}

// pullCluster grants teams a, b and c their own repositories, and team c that of team
// a too, for each node under a path of its own.
func pullCluster(t *testing.T, nodes ...stack.Node) *pulls {
	t.Helper()
	access := filepath.Join(t.TempDir(), "access.yaml")
	if err := os.WriteFile(access, []byte(stack.PrivateAccess), 0o600); err != nil {
		t.Fatal(err)
	}
	c := ownWithoutPods(t, stack.Options{Nodes: nodes, Manifests: []string{access}, APIServerFlags: []string{stack.AnonymousAuth}})
	private, err := c.Private(stack.PrivateOptions{
		Shared: []string{"shared/app", "team-a/app"},
		Grants: map[string][]string{
			"default/team-a": {"team-a/app"},
			"default/team-b": {"team-b/app"},
			"default/team-c": {"team-a/app"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(private.Close)
	return &pulls{c, private}
}

// teamProvider is the example plugin as the tests want it.
func (p *pulls) teamProvider() credprovider.Provider {
	one := p.private.Provider(asWorkload, "/team")
	one.Args = append(one.Args, redact.New("--annotation="+tenant))
	one.TokenAttributes.RequiredServiceAccountAnnotationKeys = []string{tenant}
	one.TokenAttributes.OptionalServiceAccountAnnotationKeys = []string{note}
	return one
}

// configure restarts a node's kubelet with the providers.
func (p *pulls) configure(t *testing.T, node string, more func(*kubelet.Config), providers ...credprovider.Provider) {
	t.Helper()
	use, err := p.private.Install("providers-"+node, providers...)
	if err != nil {
		t.Fatal(err)
	}
	err = p.RestartKubelet(t.Context(), node, func(c *kubelet.Config) {
		use(c)
		if more != nil {
			more(c)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// account makes a service account anew, with the annotation that the plugin requires
// unless others are given.
func (p *pulls) account(t *testing.T, name string, annotations map[string]string) *corev1.ServiceAccount {
	t.Helper()
	api := p.Admin().CoreV1().ServiceAccounts("default")
	_ = api.Delete(t.Context(), name, metav1.DeleteOptions{}) // it may not be there
	if annotations == nil {
		annotations = map[string]string{tenant: name, "other.example.io/ours": "not to be sent"}
	}
	made, err := api.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// push makes an image with content of its own and returns its private name.
func (p *pulls) push(t *testing.T, repositoryTag string) string {
	t.Helper()
	image, err := p.Image(repositoryTag, testimage.Spec{
		Files:  map[string]string{"/name": t.Name() + repositoryTag},
		Config: v1.Config{Entrypoint: []string{testimage.Program}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.private.Named(image)
}

// workload creates a pod as an account.
func (p *pulls) workload(t *testing.T, name, node, account, image string) *corev1.Pod {
	t.Helper()
	one := pod(name, node)
	one.Spec.ServiceAccountName = account
	one.Spec.Containers[0].Image, one.Spec.Containers[0].ImagePullPolicy = image, corev1.PullIfNotPresent
	made, err := p.Admin().CoreV1().Pods("default").Create(t.Context(), one, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// runs creates a pod and waits until it is ready.
func (p *pulls) runs(t *testing.T, name, node, account, image string) *corev1.Pod {
	t.Helper()
	p.workload(t, name, node, account, image)
	ready, err := p.AwaitPod(t.Context(), "default", name)
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

// refused creates a pod, waits until its image is refused, and takes the pod away. It
// returns the reason.
func (p *pulls) refused(t *testing.T, name, node, account, image string) string {
	t.Helper()
	p.workload(t, name, node, account, image)
	defer p.remove(t, name)
	return p.pullError(t, name)
}

func (p *pulls) pullError(t *testing.T, name string) (message string) {
	t.Helper()
	await(t, "the image of "+name+" to be refused", func() bool {
		got, err := p.Admin().CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Status.ContainerStatuses {
			if s.State.Running != nil {
				t.Fatalf("%s runs", name)
			}
			if w := s.State.Waiting; w != nil && w.Reason == "ErrImagePull" {
				message = w.Message
				return true
			}
		}
		return false
	})
	return message
}

func (p *pulls) remove(t *testing.T, name string) {
	t.Helper()
	at := int64(0)
	if err := p.Admin().CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &at}); err != nil {
		t.Error(err)
	}
}

// event waits for an event of that reason on a pod that says all of the parts.
func (p *pulls) event(t *testing.T, pod, reason string, parts ...string) {
	t.Helper()
	await(t, fmt.Sprintf("event %s on %s with %q", reason, pod, parts), func() bool {
		list, err := p.Admin().CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			lacks := slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(e.Message, part) })
			return e.InvolvedObject.Name == pod && e.Reason == reason && !lacks
		})
	})
}

// exchange returns the last request for a password by a pod.
func (p *pulls) exchange(t *testing.T, pod string) registryauth.Exchange {
	t.Helper()
	all := p.private.Exchanges()
	for _, e := range slices.Backward(all) {
		if e.Workload.Pod == pod {
			return e
		}
	}
	t.Fatalf("no request for a password by pod %s among %d", pod, len(all))
	return registryauth.Exchange{}
}

// untouched runs a pod that must not need the registry: it reports whether the pod got
// no password, and nothing was read with the user's.
func (p *pulls) untouched(t *testing.T, user, name, node, account, image string) bool {
	t.Helper()
	before := p.reads(user)
	p.runs(t, name, node, account, image)
	return !p.asked(name) && p.reads(user) == before
}

// asked reports whether a pod's token was brought to the registry.
func (p *pulls) asked(pod string) bool {
	return slices.ContainsFunc(p.private.Exchanges(), func(e registryauth.Exchange) bool { return e.Workload.Pod == pod })
}

// reads counts the manifests that were read as a user.
func (p *pulls) reads(user string) (n int) {
	for _, r := range p.private.Reads() {
		if r.Username == user {
			n++
		}
	}
	return n
}
