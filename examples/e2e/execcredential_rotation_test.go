package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// rotations is how often a credential is replaced under an informer.
const rotations = 50

// rotation replaces credentials while informers watch.
func (l *logins) rotation(t *testing.T) {
	for _, kind := range []login.Kind{login.Certificate, login.Token} {
		t.Run(fmt.Sprintf("ECR-18 ECR-8 STK-7 KEP-541 integration: shared informers, credential rotation does not cause issues: %d times the %s", rotations, kind), func(t *testing.T) {
			t.Parallel()
			user := "rotating-" + string(kind)
			l.rotate(t, user, kind, 0)
			l.checkConnections(t, user)
		})
		t.Run(fmt.Sprintf("ECR-18 STK-7 KEP-541 integration: shared informers, %d times the %s while watches end and are opened anew", rotations, kind), func(t *testing.T) {
			t.Parallel()
			l.rotate(t, "reopening-"+string(kind), kind, 1)
		})
	}
}

// rotate has an informer watch, its watches ending after that many seconds unless
// that is 0, through all rotations, and compares what it saw with what was done.
func (l *logins) rotate(t *testing.T, user string, kind login.Kind, watchSeconds int64) {
	clock := &turned{}
	pool := newPool(t, transport.Options{Now: clock.now})
	config := configOf(t, l.user(t, user, kind, clock.lifetime(0)))
	config.UserAgent = user
	var watches atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") != "" {
				watches.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	client := wrapped(t, pool, config)
	seen := watchMaps(t, client, user, watchSeconds)
	var done []string
	for i := range rotations {
		done = append(done, l.change(t, user, i)...)
		l.addUser(user, clock.lifetime(1))
		clock.turn()
		if _, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{Limit: 1}); err != nil {
			t.Fatalf("a request after %d rotations: %v", i, err)
		}
		if opened := watches.Load(); watchSeconds > 0 && i%10 == 0 {
			await(t, "a watch with the new credential", func() bool { return watches.Load() > opened })
		}
	}
	await(t, "the last events", func() bool { return seen.count() >= len(done) })
	if got := seen.all(); !slices.Equal(got, done) {
		t.Errorf("the informer saw\n%v\nwant\n%v", got, done)
	}
	if got := l.service.Issued(user); got != rotations+1 {
		t.Errorf("%d logins, want the first and one for each rotation", got)
	}
}

// turned is a clock that a test turns on by a minute at a time: what is issued at one
// turn has expired at the next, and no test waits for it.
type turned struct{ turns atomic.Int64 }

func (c *turned) now() time.Time { return time.Now().Add(time.Duration(c.turns.Load()) * time.Minute) }

// lifetime is that of a credential which is issued after so many further turns and
// expires at the next.
func (c *turned) lifetime(further int64) time.Duration {
	return time.Duration(c.turns.Load()+further)*time.Minute + 30*time.Second
}

// turn turns the clock on.
func (c *turned) turn() { c.turns.Add(1) }

// change makes, changes and deletes an object, and returns the events of it.
func (l *logins) change(t *testing.T, label string, i int) []string {
	t.Helper()
	maps := l.Admin().CoreV1().ConfigMaps("default")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", label, i), Labels: map[string]string{"for": label}}}
	made, err := maps.Create(t.Context(), object, metav1.CreateOptions{})
	if err == nil {
		made.Data = map[string]string{"changed": "yes"}
		_, err = maps.Update(t.Context(), made, metav1.UpdateOptions{})
	}
	if err == nil {
		err = maps.Delete(t.Context(), object.Name, metav1.DeleteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{"add " + object.Name, "update " + object.Name, "delete " + object.Name}
}

// diary is what an informer told, in its order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) write(event string, object any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object, event = gone.Obj, "found missing: "+event // a deletion that was missed
	}
	d.lines = append(d.lines, event+" "+object.(*corev1.ConfigMap).Name)
}

func (d *diary) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.lines)
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// watchMaps starts an informer of the config maps with the label and waits until it
// has synced.
func watchMaps(t *testing.T, client kubernetes.Interface, label string, watchSeconds int64) *diary {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.LabelSelector = "for=" + label
			if watchSeconds > 0 {
				o.TimeoutSeconds = &watchSeconds
			}
		}))
	informer := factory.Core().V1().ConfigMaps().Informer()
	d := &diary{}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { d.write("add", o) },
		UpdateFunc: func(_, o any) { d.write("update", o) },
		DeleteFunc: func(o any) { d.write("delete", o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	t.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	await(t, "the informer to sync", informer.HasSynced)
	return d
}

// credentialID is where the API server says which credential a request came with.
const credentialID = "authentication.kubernetes.io/credential-id"

// checkConnections asks the audit log whether the one watch went on through all
// rotations while no later request came with a credential of before.
func (l *logins) checkConnections(t *testing.T, user string) {
	t.Helper()
	watches, used := map[string]bool{}, []string{}
	for _, event := range l.auditOf(t, user) {
		if event.Verb == "watch" {
			watches[string(event.AuditID)] = true
		}
		used = append(used, event.User.Extra[credentialID]...)
	}
	if len(watches) != 1 {
		t.Errorf("the informer watched %d times, want once: the stream in flight goes on", len(watches))
	}
	used = slices.Compact(used)
	if len(used) != rotations+1 {
		t.Errorf("requests came with %d credentials, want %d", len(used), rotations+1)
	}
	seen := map[string]bool{}
	for i, id := range used {
		if seen[id] {
			t.Errorf("credential %d of %d was used again after another", i, len(used))
		}
		seen[id] = true
	}
}

// auditOf returns the audit events of a user agent, in the order of their requests.
func (l *logins) auditOf(t *testing.T, agent string) []auditv1.Event {
	t.Helper()
	file, err := os.Open(l.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var events []auditv1.Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.UserAgent == agent {
			events = append(events, event)
		}
	}
	slices.SortStableFunc(events, func(a, b auditv1.Event) int {
		return a.RequestReceivedTimestamp.Time.Compare(b.RequestReceivedTimestamp.Time)
	})
	return events
}
