package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/login/issuer"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

const (
	// newcomer logs in through a plugin, with certificates that are good for shortly.
	newcomer = "carol"
	shortly  = 2 * time.Second
	// renewals is how many credentials the story waits for.
	renewals = 3
)

// rotation replaces the credential of a client that is watching.
func rotation() Scene {
	return Scene{
		Title:  "Carol logs in through a plugin, and her certificate is replaced while she watches",
		Proves: "a client that logs in through a plugin survives rotation: the open watch goes on, new requests use the new certificate, and nothing is missed.",
		Play: func(ctx context.Context, s *Stage) error {
			service, err := s.letIn(newcomer)
			if err != nil {
				return err
			}
			defer service.Close()
			if err := s.logInByKubectl(ctx); err != nil {
				return err
			}
			return s.watchOver(ctx, service)
		},
	}
}

// letIn starts a login service and writes the user a kubeconfig with a plugin in the
// place of a credential.
func (s *Stage) letIn(user string) (*issuer.Service, error) {
	plugin, err := parts.Find("lanyard-login-plugin")
	if err != nil {
		return nil, err
	}
	service, err := s.Stack.Login()
	if err != nil {
		return nil, err
	}
	const password = "of the story"
	service.Add(user, issuer.User{Password: password, Groups: []string{"dev"}, Lifetime: shortly})
	s.Users[user], err = s.Stack.Plugin(user, &clientcmdapi.ExecConfig{
		APIVersion: execcredential.V1, InteractiveMode: clientcmdapi.NeverExecInteractiveMode, ProvideClusterInfo: true,
		Command: plugin, Args: []string{"-service", service.URL(), "-user", user},
		Env: []clientcmdapi.ExecEnvVar{{Name: "LANYARD_PASSWORD", Value: password}},
	})
	if err != nil {
		return nil, errors.Join(err, service.Close())
	}
	return service, nil
}

func (s *Stage) logInByKubectl(ctx context.Context) error {
	s.say("Her kubeconfig names a plugin and holds no credential. The real kubectl runs it:")
	got, err := s.kubectl(ctx, newcomer, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	if err != nil {
		return err
	}
	return s.check(got.out == newcomer, "the server knows her as %s (it said %q%s)", newcomer, got.out, got.err)
}

// watchOver has an informer watch the story's pod through our transport while
// certificates come and go.
func (s *Stage) watchOver(ctx context.Context, service *issuer.Service) error {
	s.pause()
	s.say("Now an informer of client-go watches as her, through our transport. Each certificate is good for %v.", shortly)
	pool, err := transport.NewPool(transport.Options{Proactive: true})
	if err != nil {
		return err
	}
	defer pool.Close()
	w := &watcher{seen: map[string]bool{}}
	client, err := s.clientOf(newcomer, pool, w)
	if err != nil {
		return err
	}
	stop, err := w.start(ctx, client)
	if err != nil {
		return err
	}
	defer stop()
	opened, before := w.watches.Load(), service.Issued(newcomer)
	for n := range renewals {
		if err := until(ctx, func() bool { return service.Issued(newcomer) > before+n }); err != nil {
			return fmt.Errorf("certificate %d: %w", n+1, err)
		}
		if err := s.mark(ctx, strconv.Itoa(n)); err != nil {
			return err
		}
		if _, err := client.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, "web", metav1.GetOptions{}); err != nil {
			return fmt.Errorf("a request with certificate %d: %w", n+1, err)
		}
	}
	if err := s.check(service.Issued(newcomer)-before >= renewals, "%d certificates were issued while it watched, and a request with each was let in", renewals); err != nil {
		return err
	}
	_ = until(ctx, func() bool { return w.count() == renewals })
	if err := s.check(w.count() == renewals, "the informer saw every change that was made to the pod meanwhile"); err != nil {
		return err
	}
	return s.check(w.watches.Load() == opened, "and its watch was never opened again")
}

func (s *Stage) clientOf(user string, pool *transport.Pool, w *watcher) (*kubernetes.Clientset, error) {
	config, err := stack.Config(s.Users[user])
	if err != nil {
		return nil, err
	}
	config.Wrap(w.counting)
	if config, _, err = restconfig.Wrap(config, pool); err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// round is the annotation that the story changes.
const round = "lanyard.dev/round"

// mark changes the pod, as the administrator.
func (s *Stage) mark(ctx context.Context, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, round, value)
	_, err := s.Stack.Admin().CoreV1().Pods(metav1.NamespaceDefault).
		Patch(ctx, "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// watcher notes which marks an informer has seen, and how often a watch was opened.
type watcher struct {
	watches atomic.Int64
	mu      sync.Mutex
	seen    map[string]bool
}

func (w *watcher) counting(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("watch") != "" {
			w.watches.Add(1)
		}
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// start starts the informer and returns when it has synced.
func (w *watcher) start(ctx context.Context, client kubernetes.Interface) (stop func(), err error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(metav1.NamespaceDefault))
	informer := factory.Core().V1().Pods().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, now any) {
		if value, marked := now.(*corev1.Pod).Annotations[round]; marked {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen[value] = true
		}
	}})
	if err != nil {
		return nil, err
	}
	end := make(chan struct{})
	factory.Start(end)
	stop = func() {
		close(end)
		factory.Shutdown()
	}
	if err := until(ctx, informer.HasSynced); err != nil {
		stop()
		return nil, fmt.Errorf("the informer does not sync: %w", err)
	}
	return stop, nil
}

func (w *watcher) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// until waits until it is so.
func until(ctx context.Context, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !so() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
