package kubernetes_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/audience"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/registryauth"
	"github.com/lanyard-dev/lanyard/examples/registryauth/workload"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/redact"
)

const (
	puller     = "puller"           // the node whose kubelet has our provider
	asWorkload = "pull-as-workload" // the provider
	registryID = "registry.example.io"
	tenant     = registryID + "/tenant" // the annotation that the provider requires
)

// TestCredentialProvider has the real kubelet run our plugin, with tokens of the real API server.
func TestCredentialProvider(t *testing.T) {
	parts.Need(t, "lanyard-pull-plugin")
	c := shared.Cluster(t)
	r := newRegistry(t, c)
	image := r.push(t, "team-a/app:1")
	hash := r.startNode(t, c)
	for _, account := range []string{"team-a", "team-b"} {
		annotations := map[string]string{tenant: account, "other": "not to be sent"}
		object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account, Annotations: annotations}}
		_, err := c.Client().CoreV1().ServiceAccounts(metav1.NamespaceDefault).Create(t.Context(), object, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("STK-13 CRP-19 CRP-29 no role: the API server gives the kubelet no token, and the pull is refused", func(t *testing.T) {
		pod := refusedPull(t, c, "team-a", image)
		if seen := r.tokens(pod.Name); len(seen) != 0 {
			t.Errorf("the registry saw %d tokens of the pod", len(seen))
		}
		want := fmt.Sprintf("system:node:%s is not authorized to request tokens for audience", puller)
		if log := kubeletLog(t, c); !strings.Contains(log, want) {
			t.Errorf("the kubelet's log does not say that %s", want)
		}
		// Where ours says it on the pod.
		for _, message := range eventsOf(t, c, pod) {
			if strings.Contains(message, registryID) || strings.Contains(message, asWorkload) {
				t.Errorf("an event of the pod names the provider or the audience: %s", message)
			}
		}
	})
	newRoles(t, c, "pull", puller).grant(t, "ClusterRole", rbacv1.PolicyRule{
		Verbs: []string{audience.Verb}, APIGroups: []string{""}, Resources: []string{registryID}, ResourceNames: []string{"team-a", "team-b"},
	})
	t.Run("STK-13 CRP-25 CRP-9 with a role, a pod pulls as its own service account", func(t *testing.T) {
		pod := run(t, c, workloadPod("team-a", image))
		if pod.Status.Phase != corev1.PodRunning {
			t.Fatalf("phase %s", pod.Status.Phase)
		}
		seen := r.tokens(pod.Name)
		if len(seen) == 0 {
			t.Fatal("the registry saw no token of the pod")
		}
		token, who := seen[0], seen[0].Kubernetes
		if !slices.Equal(token.Audience, jwt.Audience{registryID}) {
			t.Errorf("audience %q, want %q alone", token.Audience, registryID)
		}
		if who.Pod.UID != string(pod.UID) || who.ServiceAccount.Name != "team-a" || who.Namespace != "default" || who.Node.Name != puller {
			t.Errorf("the token is bound to %+v, want pod UID %s, account default/team-a, node %s", who, pod.UID, puller)
		}
		if got := r.front.Reads(); !slices.Contains(got, registryauth.Read{Username: "default/team-a", Repository: "team-a/app"}) {
			t.Errorf("the registry was read by %v, want default/team-a", got)
		}
	})
	t.Run("STK-13 CRP-6 the plugin is sent the configured annotations only", func(t *testing.T) {
		exchanges := r.front.Exchanges()
		if len(exchanges) == 0 {
			t.Error("nobody asked the registry for a password")
		}
		for _, e := range exchanges {
			if want := map[string]string{tenant: e.Workload.ServiceAccount}; !maps.Equal(e.Annotations, want) {
				t.Errorf("annotations %v, want %v", e.Annotations, want)
			}
		}
	})
	t.Run("STK-13 CRP-25 CRP-20 another service account is refused the image that the node has", func(t *testing.T) {
		pod := refusedPull(t, c, "team-b", image)
		exchanges := slices.DeleteFunc(r.front.Exchanges(), func(e registryauth.Exchange) bool { return e.Workload.Pod != pod.Name })
		if len(exchanges) == 0 || exchanges[0].Granted || exchanges[0].Workload.Account() != "default/team-b" {
			t.Errorf("exchanges of the pod: %+v, want a refused one of default/team-b", exchanges)
		}
	})
	t.Run("STK-13 CRP-16 the kubelet's metrics, with the hash that configfile has", func(t *testing.T) {
		of := map[string]string{"plugin_name": asWorkload}
		for name, labels := range map[string]map[string]string{
			"kubelet_credential_provider_plugin_duration_count": of,
			"kubelet_credential_provider_plugin_errors_total":   of,
			"kubelet_credential_provider_config_info":           {"hash": hash},
		} {
			if got := kubeletMetric(t, c, name, labels); got < 1 {
				t.Errorf("%s%v is %v, want 1 at least", name, labels, got)
			}
		}
	})
}

// privateRegistry is inside the cluster's network, and notes whose tokens come.
type privateRegistry struct {
	front  *registryauth.Front
	images *testimage.Registry
	port   int

	mu   sync.Mutex
	seen []tokenClaims
}

// tokenClaims are those of a token that the real API server made.
type tokenClaims struct {
	jwt.Claims
	Kubernetes struct {
		Namespace      string       `json:"namespace"`
		Pod            tokenSubject `json:"pod"`
		ServiceAccount tokenSubject `json:"serviceaccount"`
		Node           tokenSubject `json:"node"`
	} `json:"kubernetes.io"`
}

type tokenSubject struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

func newRegistry(t *testing.T, c *kubernetes.Cluster) *privateRegistry {
	t.Helper()
	// Strangers may read the issuer's keys.
	_, err := c.Client().RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "lanyard:issuer-discovery"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:service-account-issuer-discovery"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:unauthenticated"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := &privateRegistry{images: testimage.NewRegistry()}
	t.Cleanup(r.images.Close)
	r.front = registryauth.New(registryauth.Options{
		Registry: r.images.Handler, Grants: map[string][]string{"default/team-a": {"team-a/app"}},
		Verifier: workload.Verifier{Issuer: c.URL(), Audience: registryID, Client: &http.Client{Transport: &http.Transport{
			DialContext: c.Dial, TLSClientConfig: &tls.Config{RootCAs: c.Authority().Pool()}, DisableKeepAlives: true,
		}}},
	})
	listener, err := c.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	_, port, _ := strings.Cut(listener.Addr().String(), ":")
	r.port, err = strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// serve notes the token of an exchange; the front checks it.
func (r *privateRegistry) serve(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/exchange" {
		body, err := io.ReadAll(io.LimitReader(request.Body, registryauth.MaxRequest))
		if err != nil {
			http.Error(w, "no body", http.StatusBadRequest)
			return
		}
		r.note(body)
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.front.ServeHTTP(w, request)
}

func (r *privateRegistry) note(body []byte) {
	var asked registryauth.Request
	var claims tokenClaims
	if json.Unmarshal(body, &asked) != nil {
		return
	}
	token, err := jwt.ParseSigned(asked.Token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || token.UnsafeClaimsWithoutVerification(&claims) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, claims)
}

// tokens returns those that are bound to the pod.
func (r *privateRegistry) tokens(pod string) (out []tokenClaims) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.seen {
		if one.Kubernetes.Pod.Name == pod {
			out = append(out, one)
		}
	}
	return out
}

// host is the registry's name in references: by it containerd speaks plain HTTP.
func (r *privateRegistry) host() string { return "localhost:" + strconv.Itoa(r.port) }

// push stores an image of nobody else's content and returns its private reference.
func (r *privateRegistry) push(t *testing.T, repositoryTag string) string {
	t.Helper()
	image, err := testimage.Build(testimage.Spec{
		Reporter: parts.Need(t, "lanyard-reporter")[0], Files: map[string]string{"/name": t.Name()},
		Config: v1.Config{Entrypoint: []string{testimage.Program}, Cmd: []string{"pause"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	reference, err := r.images.Push(repositoryTag, image)
	if err != nil {
		t.Fatal(err)
	}
	return r.host() + strings.TrimPrefix(reference, r.images.Host())
}

// startNode adds a node whose kubelet runs our plugin for the registry's images, and returns the configuration's hash.
func (r *privateRegistry) startNode(t *testing.T, c *kubernetes.Cluster) (hash string) {
	t.Helper()
	required := true
	provider := credprovider.Provider{
		Name: asWorkload, MatchImages: []string{r.host()}, DefaultCacheDuration: credprovider.NewDuration(0), APIVersion: credprovider.V1,
		Args: redact.Texts("--issuer="+c.URL(), "--issuer-ca="+c.AuthorityFile(), "--audience="+registryID,
			"--exchange=http://"+r.host()+"/exchange", "--annotation="+tenant),
		TokenAttributes: &credprovider.TokenAttributes{
			ServiceAccountTokenAudience: registryID, CacheType: credprovider.CacheByServiceAccount, RequireServiceAccount: &required,
			RequiredServiceAccountAnnotationKeys: []string{tenant},
		},
	}
	text, err := configfile.Encode(credprovider.Config{
		Kind: credprovider.ConfigKind, APIVersion: credprovider.ConfigV1, Providers: []credprovider.Provider{provider},
	})
	if err != nil {
		t.Fatal(err)
	}
	bin, file := filepath.Join(c.Dir(), "providers"), filepath.Join(c.Dir(), "providers.json")
	plugin := parts.Need(t, "lanyard-pull-plugin")[0]
	for _, err := range []error{
		os.Mkdir(bin, 0o755), os.Symlink(plugin, filepath.Join(bin, asWorkload)), os.WriteFile(file, text, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := configfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.AddNode(kubernetes.Node{Name: puller, Kubelet: func(command *kubernetes.Command) {
		command.Set("image-credential-provider-config", file)
		command.Set("image-credential-provider-bin-dir", bin)
	}})
	if err == nil {
		err = w.StartContainerd(t.Context())
	}
	if err == nil {
		err = w.StartKubelet(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Hash
}

// workloadPod is a pod of the account on the node that pulls.
func workloadPod(account, image string) *corev1.Pod {
	grace := int64(0)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: account + "-", Namespace: metav1.NamespaceDefault}, Spec: corev1.PodSpec{
		NodeName: puller, ServiceAccountName: account, HostNetwork: true, TerminationGracePeriodSeconds: &grace,
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers:  []corev1.Container{{Name: "app", Image: image, ImagePullPolicy: corev1.PullIfNotPresent}},
	}}
}

// refusedPull creates a pod of the account, waits until its image is refused, and takes the pod away.
func refusedPull(t *testing.T, c *kubernetes.Cluster, account, image string) *corev1.Pod {
	t.Helper()
	pods := c.Client().CoreV1().Pods(metav1.NamespaceDefault)
	pod, err := pods.Create(t.Context(), workloadPod(account, image), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the image to be refused", func() (bool, error) {
		got, err := pods.Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, s := range got.Status.ContainerStatuses {
			if s.State.Running != nil {
				t.Fatalf("%s runs", pod.Name)
			}
			if w := s.State.Waiting; w != nil && (w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff") {
				return true, nil
			}
		}
		return false, fmt.Errorf("%s: %v", got.Status.Phase, got.Status.ContainerStatuses)
	})
	if err := c.Remove(t.Context(), pod); err != nil {
		t.Error(err)
	}
	return pod
}

// eventsOf returns what is said on the pod, once the refusal is.
func eventsOf(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod) (messages []string) {
	t.Helper()
	await(t, "an event of the refusal", func() (bool, error) {
		list, err := c.Client().CoreV1().Events(pod.Namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod.Name})
		if err != nil {
			return false, err
		}
		messages = nil
		for _, e := range list.Items {
			messages = append(messages, e.Message)
		}
		refused := func(m string) bool { return strings.Contains(m, "Failed to pull image") }
		return slices.ContainsFunc(messages, refused), fmt.Errorf("%q", messages)
	})
	return messages
}

func kubeletLog(t *testing.T, c *kubernetes.Cluster) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir(), "kubelet-"+puller+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kubeletMetric returns the value of the metric with the labels, 0 where there is none.
func kubeletMetric(t *testing.T, c *kubernetes.Cluster, name string, labels map[string]string) float64 {
	t.Helper()
	client, err := c.Admin().HTTP()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get(c.Node(puller).URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), name+"{")
		if !found {
			continue
		}
		shown, value, _ := strings.Cut(rest, "} ")
		for label, want := range labels {
			found = found && strings.Contains(","+shown, ","+label+"="+strconv.Quote(want))
		}
		if n, err := strconv.ParseFloat(value, 64); found && err == nil {
			return n
		}
	}
	return 0
}

// await asks until the answer is true.
func await(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	if err := kubernetes.Await(t.Context(), what, func(context.Context) (bool, error) { return done() }); err != nil {
		t.Fatal(err)
	}
}
