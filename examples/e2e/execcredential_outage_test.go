package e2e_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// outage has the login service fail for a while under an informer.
func (l *logins) outage(t *testing.T) {
	const user = "outage"
	clock := &turned{}
	client := wrapped(t, newPool(t, transport.Options{Now: clock.now}), configOf(t, l.user(t, user, login.Certificate, clock.lifetime(0))))
	seen := watchMaps(t, client, user, 1)
	l.addUser(user, clock.lifetime(1))
	before := l.service.Asked(user)
	l.service.SetDown(true)
	defer l.service.SetDown(false)
	clock.turn()
	t.Run("ECR-13 STK-7 KEP-541 integration: executables are not called in a hot loop during transient failure", func(t *testing.T) {
		started := time.Now()
		failed := hammer(t, client, 1500*time.Millisecond)
		most := runsWithin(time.Since(started))
		if got := l.service.Asked(user) - before; got == 0 || got > most || failed < 10*got {
			t.Errorf("%d requests failed after %d logins, want one to %d", failed, got, most)
		}
	})
	t.Run("ECR-13 STK-7 KEP-541 integration: shared informers, transient failures are correctly retried", func(t *testing.T) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "meanwhile", Labels: map[string]string{"for": user}}}
		if _, err := l.Admin().CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		l.service.SetDown(false)
		await(t, "the informer to see what happened meanwhile", func() bool { return slices.Contains(seen.all(), "add meanwhile") })
	})
	t.Run("ECR-5 STK-7 KEP-541 integration: shared informers, executables requiring interactive prompts fail gracefully", l.prompting)
}

// hammer asks from several callers for that long and returns how many requests
// failed; one that does not is the test's.
func hammer(t *testing.T, client kubernetes.Interface, d time.Duration) int {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	failed := 0
	for range 8 {
		all.Go(func() {
			for end := time.Now().Add(d); time.Now().Before(end); {
				_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{Limit: 1})
				if err == nil {
					t.Error("a request without a credential worked")
					return
				}
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// runsWithin is how often a plugin that fails at once may run in that time, when
// jitter halves every pause.
func runsWithin(d time.Duration) int {
	runs := 1
	for at := time.Duration(0); ; runs++ {
		if at += (transport.Backoff{}).Delay(runs, 1); at > d {
			return runs
		}
	}
}

// prompting has an informer log in through a plugin that needs somebody to answer.
func (l *logins) prompting(t *testing.T) {
	file := l.user(t, "prompting", login.Certificate, lasting, func(c *clientcmdapi.ExecConfig) { c.InteractiveMode = clientcmdapi.AlwaysExecInteractiveMode })
	client := wrapped(t, newPool(t, transport.Options{}), configOf(t, file))
	informer := informers.NewSharedInformerFactory(client, 0).Core().V1().ConfigMaps().Informer()
	told := make(chan error, 1)
	err := informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		select {
		case told <- err:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		informer.Run(stop)
		close(ended)
	}()
	defer func() {
		close(stop)
		<-ended
	}()
	select {
	case err := <-told:
		var interactive *transport.InteractiveError
		if !errors.As(err, &interactive) || !errors.Is(err, transport.ErrNoTerminal) {
			t.Errorf("the informer was told %v, want an interactive error", err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the informer hangs")
	}
	if got := l.service.Asked("prompting"); got != 0 {
		t.Errorf("the plugin ran and logged in %d times", got)
	}
}
