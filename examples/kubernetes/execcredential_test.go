package kubernetes_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/login/issuer"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// TestExecCredential has clients log in through a plugin and our transport, against the real API server.
func TestExecCredential(t *testing.T) {
	l := newLogins(t, shared.Cluster(t))
	for _, kind := range []login.Kind{login.Certificate, login.Token} {
		t.Run(fmt.Sprintf("STK-13 ECR-18 ECR-8 a %s is replaced %d times under a watch, which misses nothing", kind, rotations), func(t *testing.T) {
			l.rotate(t, kind)
		})
	}
	t.Run("STK-13 ECR-9 the API server refuses an expired certificate: a new one is had, the request repeated, the watch goes on", l.refused)
	t.Run("sessions", l.sessions)
}

// logins are who log in at a service beside the cluster.
type logins struct {
	*kubernetes.Cluster
	service *issuer.Service
	plugin  string
}

const (
	loginGroup    = "login"
	loginPassword = "open sesame"
	rotations     = 10
)

func newLogins(t *testing.T, c *kubernetes.Cluster) *logins {
	t.Helper()
	l := &logins{Cluster: c, plugin: parts.Need(t, "lanyard-login-plugin")[0]}
	name, create := metav1.ObjectMeta{Name: loginGroup}, metav1.CreateOptions{}
	_, account := c.Client().CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: name}, create)
	_, role := c.Client().RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		{Verbs: []string{"get", "create"}, APIGroups: []string{""}, Resources: []string{"pods/exec"}},
	}}, create)
	_, binding := c.Client().RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: loginGroup},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: loginGroup},
			{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: loginGroup},
		},
	}, create)
	if err := errors.Join(account, role, binding); err != nil {
		t.Fatal(err)
	}
	service, err := issuer.Start(issuer.Options{Authority: c.Authority(), Accounts: c.Client()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	l.service = service
	return l
}

// may sets how long what somebody gets from now on is good for.
func (l *logins) may(name string, lifetime time.Duration) {
	l.service.Add(name, issuer.User{
		Password: loginPassword, Groups: []string{loginGroup}, Namespace: "default", Account: loginGroup, Lifetime: lifetime,
	})
}

// user is somebody who logs in through the plugin, for every client that knows plugins.
func (l *logins) user(t *testing.T, name string, kind login.Kind, lifetime time.Duration) *kubernetes.User {
	t.Helper()
	l.may(name, lifetime)
	user, err := l.User(name, &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: execcredential.V1, InteractiveMode: clientcmdapi.NeverExecInteractiveMode, ProvideClusterInfo: true,
		Command: l.plugin, Args: []string{"-service", l.service.URL(), "-user", name, "-kind", string(kind)},
		Env: []clientcmdapi.ExecEnvVar{{Name: "LANYARD_PASSWORD", Value: loginPassword}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// ours returns the same user through our transport.
func ours(t *testing.T, user *kubernetes.User, options transport.Options) *kubernetes.User {
	t.Helper()
	pool, err := transport.NewPool(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	config, source, err := restconfig.Wrap(user.Config, pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	copied := *user
	copied.Config = config
	return &copied
}

func clientOf(t *testing.T, user *kubernetes.User) *clientset.Clientset {
	t.Helper()
	client, err := user.Client()
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// rotate has an informer watch while a clock that is turned on by hand ends one credential after the other.
func (l *logins) rotate(t *testing.T, kind login.Kind) {
	var turns atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(turns.Load()) * time.Minute) }
	lifetime := func(further int64) time.Duration {
		return time.Duration(turns.Load()+further)*time.Minute + 30*time.Second
	}
	name := "rotating-" + string(kind)
	user := ours(t, l.user(t, name, kind, lifetime(0)), transport.Options{Now: now})
	user.Config.UserAgent = name
	client := clientOf(t, user)
	seen := watchMaps(t, client, name)
	var done []string
	for i := range rotations {
		done = append(done, l.change(t, name, i)...)
		l.may(name, lifetime(1))
		turns.Add(1)
		if _, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{Limit: 1}); err != nil {
			t.Fatalf("a request after %d rotations: %v", i+1, err)
		}
	}
	done = append(done, l.change(t, name, rotations)...)
	await(t, "the last events", func() (bool, error) { return len(seen.all()) >= len(done), nil })
	if got := seen.all(); !slices.Equal(got, done) {
		t.Errorf("the informer saw\n%v\nwant\n%v", got, done)
	}
	if got := l.service.Issued(name); got != rotations+1 {
		t.Errorf("%d logins, want the first and one for each rotation", got)
	}
	l.checkCredentials(t, name)
}

// credentialID is where the API server says which credential a request came with.
const credentialID = "authentication.kubernetes.io/credential-id"

// checkCredentials asks the audit log whether the one watch went on while every later request came with the credential
// of its time.
func (l *logins) checkCredentials(t *testing.T, agent string) {
	t.Helper()
	var lists []string
	watches := map[string]bool{}
	await(t, "the audit log", func() (bool, error) {
		events, err := l.Audit(func(e *auditv1.Event) bool { return e.UserAgent == agent && e.ObjectRef != nil })
		lists = nil
		for _, e := range events {
			switch {
			case e.Verb == "watch":
				watches[string(e.AuditID)] = true
			case e.Stage == auditv1.StageResponseComplete:
				lists = append(lists, e.User.Extra[credentialID]...)
			}
		}
		return len(lists) >= rotations, err
	})
	if len(watches) != 1 {
		t.Errorf("the informer watched %d times, want once: the stream in flight goes on", len(watches))
	}
	last := lists[len(lists)-rotations:]
	if slices.Sort(last); len(slices.Compact(slices.Clone(last))) != rotations {
		t.Errorf("the last %d requests came with the credentials %q, want another each", rotations, last)
	}
}

// change makes, changes and deletes an object, and returns the events of it.
func (l *logins) change(t *testing.T, label string, i int) []string {
	t.Helper()
	maps := l.Client().CoreV1().ConfigMaps("default")
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

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// watchMaps starts an informer of the config maps with the label and waits until it has synced.
func watchMaps(t *testing.T, client clientset.Interface, label string) *diary {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "for=" + label }))
	informer := factory.Core().V1().ConfigMaps().Informer()
	d := &diary{}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { d.write("add", o) },
		UpdateFunc: func(_, o any) { d.write("update", o) },
		DeleteFunc: func(o any) { d.write("delete", o) },
	}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	t.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	await(t, "the informer to sync", func() (bool, error) { return informer.HasSynced(), nil })
	return d
}

// shortLife is that of a certificate that ends under a watch: as short as lets a watch begin.
const shortLife = 2 * time.Second

// refused has a certificate end without the client being told when. The plugin is cat.
func (l *logins) refused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credential.json")
	maps := metav1.ListOptions{LabelSelector: "for=refused"}
	var user, static *kubernetes.User
	var events watch.Interface
	await(t, "a watch that begins before its certificate ends", func() (bool, error) {
		static = l.issue(t, file, shortLife)
		plain, err := l.User("expiring", &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: execcredential.V1, InteractiveMode: clientcmdapi.NeverExecInteractiveMode, Command: "/bin/cat", Args: []string{file},
		}})
		if err != nil {
			t.Fatal(err)
		}
		user = ours(t, plain, transport.Options{Repeat: true})
		events, err = clientOf(t, user).CoreV1().ConfigMaps("default").Watch(t.Context(), maps)
		return err == nil, err
	})
	t.Cleanup(events.Stop)
	want := l.change(t, "refused", 0)
	await(t, "the API server to refuse the certificate", func() (bool, error) {
		_, err := clientOf(t, static).CoreV1().ConfigMaps("default").List(t.Context(), maps)
		return apierrors.IsUnauthorized(err), err
	})
	l.issue(t, file, time.Hour)
	if _, err := clientOf(t, user).CoreV1().ConfigMaps("default").List(t.Context(), maps); err != nil {
		t.Errorf("a request after the end of the certificate: %v", err)
	}
	want = append(want, l.change(t, "refused", 1)...)
	words := map[watch.EventType]string{watch.Added: "add", watch.Modified: "update", watch.Deleted: "delete"}
	var got []string
	for len(got) < len(want) {
		select {
		case e, open := <-events.ResultChan():
			object, is := e.Object.(*corev1.ConfigMap)
			if !open || !is {
				t.Fatalf("the watch ended after %v with %v, want %v", got, e.Object, want)
			}
			got = append(got, words[e.Type]+" "+object.Name)
		case <-time.After(time.Minute):
			t.Fatalf("the watch saw %v, want %v", got, want)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the watch saw\n%v\nwant\n%v", got, want)
	}
}

// issue puts a new certificate into the plugin's file, without saying when it ends, and returns a user who has it
// without a plugin.
func (l *logins) issue(t *testing.T, file string, life time.Duration) *kubernetes.User {
	t.Helper()
	pair, err := l.Authority().ClientUntil(time.Now().Add(life), "expiring", loginGroup)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": execcredential.V1, "kind": "ExecCredential",
		"status": map[string]string{"clientCertificateData": string(pair.Cert), "clientKeyData": string(pair.Key)},
	})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	static, err := l.User("expiring", &clientcmdapi.AuthInfo{ClientCertificateData: pair.Cert, ClientKeyData: pair.Key})
	if err != nil {
		t.Fatal(err)
	}
	return static
}

// sessions compares exec sessions of client-go, of client-go through our transport, and of kubectl, by the audit log.
func (l *logins) sessions(t *testing.T) {
	pod := run(t, l.Cluster, &corev1.Pod{})
	command := []string{"/reporter", "print", "out", "err", "7"}
	for _, kind := range []login.Kind{login.Certificate, login.Token} {
		name := "session-" + string(kind)
		user := l.user(t, name, kind, time.Hour)
		through := ours(t, user, transport.Options{})
		before := l.sessionsOf(t, pod.Name)
		for who, one := range map[string]*kubernetes.User{"client-go": user, "client-go through our transport": through} {
			for protocol, open := range executors {
				t.Run(fmt.Sprintf("STK-13 ECR-29 %s, a %s over %s", who, kind, protocol), func(t *testing.T) {
					got, err := open.run(t, one, pod.Name, command)
					if want := (kubernetes.Result{Stdout: "out", Stderr: "err", Code: 7}); err != nil || got != want {
						t.Errorf("exec = %+v, %v; want %+v", got, err, want)
					}
				})
			}
		}
		t.Run(fmt.Sprintf("STK-13 ECR-19 kubectl, a %s", kind), func(t *testing.T) {
			got, err := user.Kubectl(t.Context(), append([]string{"exec", pod.Name, "--"}, command...)...)
			if err != nil || got.Code != 7 || got.Stdout != "out" || !strings.HasPrefix(got.Stderr, "err") {
				t.Errorf("kubectl exec = %+v, %v", got, err)
			}
		})
		t.Run(fmt.Sprintf("STK-13 ECR-29 the audit log has the same user for all, with a %s", kind), func(t *testing.T) {
			const sessions = 5
			var found []auditv1.Event
			await(t, "the sessions in the audit log", func() (bool, error) {
				found = l.sessionsOf(t, pod.Name)[len(before):]
				return len(found) >= sessions, fmt.Errorf("%d of %d", len(found), sessions)
			})
			if len(found) != sessions {
				t.Errorf("%d sessions, want %d", len(found), sessions)
			}
			agents := map[string]bool{}
			for _, e := range found {
				agents[strings.SplitN(e.UserAgent, "/", 2)[0]] = true
				if e.User.Username != named(name, kind) || !slices.Equal(e.User.Groups, found[0].User.Groups) {
					t.Errorf("a session of %s in %q by %s, want %s in %q", e.User.Username, e.User.Groups, e.UserAgent, named(name, kind), found[0].User.Groups)
				}
				if e.ResponseStatus == nil || e.ResponseStatus.Code != http.StatusSwitchingProtocols {
					t.Errorf("a session of %s ended with %+v", e.UserAgent, e.ResponseStatus)
				}
			}
			if !agents["kubectl"] || len(agents) != 2 {
				t.Errorf("user agents %v, want kubectl and this test", agents)
			}
		})
	}
}

// named is whom the API server knows the user as.
func named(user string, kind login.Kind) string {
	if kind == login.Token {
		return "system:serviceaccount:default:" + loginGroup
	}
	return user
}

// sessionsOf are the pod's exec sessions that have ended, in the order of the audit log.
func (l *logins) sessionsOf(t *testing.T, pod string) []auditv1.Event {
	t.Helper()
	events, err := l.Audit(func(e *auditv1.Event) bool {
		return e.Stage == auditv1.StageResponseComplete && e.ObjectRef != nil && e.ObjectRef.Subresource == "exec" && e.ObjectRef.Name == pod
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// opener makes an executor of client-go's.
type opener func(*rest.Config, string) (remotecommand.Executor, error)

var executors = map[string]opener{
	"WebSocket": func(config *rest.Config, address string) (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(config, http.MethodGet, address)
	},
	"SPDY": func(config *rest.Config, address string) (remotecommand.Executor, error) {
		parsed, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		return remotecommand.NewSPDYExecutor(config, http.MethodPost, parsed)
	},
}

// run runs the command in the pod to its end.
func (open opener) run(t *testing.T, user *kubernetes.User, pod string, command []string) (kubernetes.Result, error) {
	t.Helper()
	address := clientOf(t, user).CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	executor, err := open(user.Config, address.String())
	if err != nil {
		return kubernetes.Result{}, err
	}
	var out, errs bytes.Buffer
	err = executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out, Stderr: &errs})
	result := kubernetes.Result{Stdout: out.String(), Stderr: errs.String()}
	var exit utilexec.ExitError
	if errors.As(err, &exit) {
		result.Code, err = exit.ExitStatus(), nil
	}
	return result, err
}
