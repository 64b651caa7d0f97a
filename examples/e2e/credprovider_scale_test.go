package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk/check"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/kubelet/puller"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/redact"
)

const (
	scalePods, scaleAccounts, scaleImages = 1000, 50, 200
	scaleNamespaces                       = 10
	scaleNode                             = "many"
)

// manyPulls is the kubelet's puller in this process, over a runtime that takes every
// image for which there is a password: the API server, the plugin's processes and the
// registry's front are the real ones.
type manyPulls struct {
	*pulls
	puller *puller.Puller
	events *record.FakeRecorder
	runs   atomic.Int32
	tokens *mints
}

func (m *manyPulls) PluginError(string)                   {}
func (m *manyPulls) PluginDuration(string, time.Duration) { m.runs.Add(1) }
func (m *manyPulls) ConfigInfo(string)                    {}

// mints counts the tokens of another source.
type mints struct {
	provider.TokenSource
	mu   sync.Mutex
	seen map[provider.TokenRequest]int
}

func (m *mints) Token(ctx context.Context, r provider.TokenRequest) (provider.Token, error) {
	m.mu.Lock()
	m.seen[r]++
	m.mu.Unlock()
	return m.TokenSource.Token(ctx, r)
}

// anyImage is a runtime's image service that has nothing and pulls with any password.
type anyImage struct{ runtimeapi.ImageServiceClient }

var errNoPassword = errors.New("the registry wants a password")

func (anyImage) PullImage(_ context.Context, r *runtimeapi.PullImageRequest, _ ...grpc.CallOption) (*runtimeapi.PullImageResponse, error) {
	if r.GetAuth().GetPassword() == "" {
		return nil, errNoPassword
	}
	return &runtimeapi.PullImageResponse{ImageRef: r.GetImage().GetImage()}, nil
}

func newManyPulls(t *testing.T) *manyPulls {
	t.Helper()
	p := pullCluster(t)
	file, err := p.User("system:node:"+scaleNode, "system:nodes")
	if err != nil {
		t.Fatal(err)
	}
	config, err := stack.Config(file)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	node, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	one := p.private.Provider(asWorkload, "/scale")
	one.Args = append(one.Args, redact.New("--keep=10m"))
	use, err := p.private.Install("providers", one)
	if err != nil {
		t.Fatal(err)
	}
	var paths kubelet.Config
	use(&paths)
	m := &manyPulls{pulls: p, events: record.NewFakeRecorder(scalePods), tokens: &mints{TokenSource: puller.Tokens{Client: node}, seen: map[provider.TokenRequest]int{}}}
	pool, err := provider.Open(paths.ImageCredentialProviderConfig, paths.ImageCredentialProviderBinDir, provider.Options{
		Gates: credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}, Accounts: puller.Accounts{Client: node}, Tokens: m.tokens, Recorder: m,
	})
	if err != nil {
		t.Fatal(err)
	}
	m.puller = puller.New(puller.Options{Images: anyImage{}, Events: m.events, Pool: pool})
	return m
}

// image, namespace and owner are the repository, and the account with its namespace, of
// pod number i.
func (m *manyPulls) image(i int) string     { return fmt.Sprintf("scale/%03d", i%scaleImages) }
func (m *manyPulls) namespace(i int) string { return fmt.Sprintf("scale-%d", i%scaleNamespaces) }
func (m *manyPulls) owner(i int) string     { return fmt.Sprintf("owner-%02d", i%scaleAccounts) }

// populate makes the namespace and the account of pod number i.
func (m *manyPulls) populate(t *testing.T, i int) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.namespace(i)}}
	_, err := m.Admin().CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: m.owner(i)}}
		_, err = m.Admin().CoreV1().ServiceAccounts(namespace.Name).Create(t.Context(), account, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// bound creates pod number i on the node.
func (m *manyPulls) bound(ctx context.Context, i int) (*corev1.Pod, error) {
	one := pod(fmt.Sprintf("scale-%04d", i), scaleNode)
	one.Spec.ServiceAccountName = m.owner(i)
	one.Spec.Containers[0].Image, one.Spec.Containers[0].ImagePullPolicy = m.private.Host()+"/"+m.image(i), corev1.PullAlways
	return m.Admin().CoreV1().Pods(m.namespace(i)).Create(ctx, one, metav1.CreateOptions{})
}

func (m *manyPulls) ensure(ctx context.Context, pod *corev1.Pod) error {
	_, err := m.puller.Ensure(ctx, pod, &pod.Spec.Containers[0])
	return err
}

// TestCredentialScale is 1,000 pods at once, and an API server that goes away.
func TestCredentialScale(t *testing.T) {
	m := newManyPulls(t)
	for i := range scaleAccounts {
		m.populate(t, i)
	}
	pods, keys := make([]*corev1.Pod, scalePods), map[[2]string]bool{}
	for i := range scalePods {
		keys[[2]string{m.owner(i), m.image(i)}] = true
		m.private.Grant(m.namespace(i)+"/"+m.owner(i), m.image(i))
	}
	m.each(t, func(i int) (err error) { pods[i], err = m.bound(t.Context(), i); return err })
	t.Run("CRP-14 CRP-15 CRP-12 1,000 pods at once: a plugin run for each distinct key, a token for each run", func(t *testing.T) {
		started := time.Now()
		m.each(t, func(i int) error { return m.ensure(t.Context(), pods[i]) })
		t.Logf("%d pods, %d accounts, %d images: %d keys, %d plugin runs, %d tokens, %v",
			scalePods, scaleAccounts, scaleImages, len(keys), m.runs.Load(), m.minted(), time.Since(started).Round(time.Millisecond))
		if int(m.runs.Load()) != len(keys) || m.minted() != len(keys) || len(m.private.Exchanges()) != len(keys) {
			t.Errorf("%d runs, %d tokens, %d passwords, want %d of each", m.runs.Load(), m.minted(), len(m.private.Exchanges()), len(keys))
		}
		for request, n := range m.tokens.seen {
			if n > 1 {
				t.Errorf("%d tokens for pod %s", n, request.PodName)
			}
		}
	})
	t.Run("CRP-12 the same pods again cost no run and no token", func(t *testing.T) {
		m.each(t, func(i int) error { return m.ensure(t.Context(), pods[i]) })
		if int(m.runs.Load()) != len(keys) || m.minted() != len(keys) {
			t.Errorf("%d runs, %d tokens, want %d", m.runs.Load(), m.minted(), len(keys))
		}
	})
	t.Run("CRP-8 a pod without service account: the plugin is not run, and no event complains", func(t *testing.T) {
		static := pods[0].DeepCopy()
		static.Spec.ServiceAccountName = ""
		if err := m.ensure(t.Context(), static); !errors.Is(err, errNoPassword) || len(m.events.Events) != 0 {
			t.Errorf("Ensure = %v with %d events, want an anonymous pull and none", err, len(m.events.Events))
		}
	})
	t.Run("CRP-24 the example plugin keeps to the protocol", func(t *testing.T) { m.protocol(t, pods[0]) })
	t.Run("CRP-29 the API server is away: the event names audience and account, and the next pull tries again", func(t *testing.T) { m.away(t, pods[0]) })
}

// protocol takes the plugin through the protocol's check with a token of a pod.
func (m *manyPulls) protocol(t *testing.T, pod *corev1.Pod) {
	account, err := puller.Accounts{Client: m.Admin()}.ServiceAccount(t.Context(), pod.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		t.Fatal(err)
	}
	token, err := m.tokens.Token(t.Context(), provider.TokenRequest{
		Account: account.Ref(), Audience: stack.PrivateAudience, PodName: pod.Name, PodUID: string(pod.UID),
	})
	if err != nil {
		t.Fatal(err)
	}
	report := check.Run(t.Context(), parts.Need(t, "lanyard-pull-plugin")[0], check.Options{
		Image: m.private.Host() + "/" + m.image(0), Args: m.private.Provider(asWorkload, "/scale").Args, Token: token.Value,
	})
	if !report.OK() {
		t.Error(report)
	}
}

// each calls do for all pods at once.
func (m *manyPulls) each(t *testing.T, do func(i int) error) {
	t.Helper()
	errs := make([]error, scalePods)
	var all sync.WaitGroup
	for i := range scalePods {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (m *manyPulls) minted() (n int) {
	m.tokens.mu.Lock()
	defer m.tokens.mu.Unlock()
	for _, times := range m.tokens.seen {
		n += times
	}
	return n
}

func (m *manyPulls) away(t *testing.T, pod *corev1.Pod) {
	m.APIServer().Kill()
	if err := m.ensure(t.Context(), pod); !errors.Is(err, errNoPassword) {
		t.Errorf("Ensure = %v, want the anonymous pull to be refused", err)
	}
	said := <-m.events.Events
	for _, part := range []string{puller.EventReason, stack.PrivateAudience, pod.Namespace + "/" + pod.Spec.ServiceAccountName} {
		if !strings.Contains(said, part) {
			t.Errorf("event %q, want %q in it", said, part)
		}
	}
	if err := m.APIServer().Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.populate(t, 0)
	again, err := m.bound(t.Context(), 0)
	if err == nil {
		err = m.ensure(t.Context(), again)
	}
	if err != nil {
		t.Errorf("Ensure after the API server is back = %v", err)
	}
}
