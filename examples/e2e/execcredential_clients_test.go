package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// clients has everybody log in who can, and the server say as whom.
func (l *logins) clients(t *testing.T) {
	for _, kind := range []login.Kind{login.Certificate, login.Token} {
		ask := map[string]func(*testing.T, string) string{
			"ECR-23 ECR-19 plain net/http": askPlain,
			"STK-5 unmodified kubectl":     askKubectl,
			"STK-5 unmodified client-go": func(t *testing.T, file string) string {
				client, err := stack.Client(file)
				if err != nil {
					t.Fatal(err)
				}
				return whoami(t, client)
			},
			"ECR-18 client-go through our transport": func(t *testing.T, file string) string {
				return whoami(t, wrapped(t, newPool(t, transport.Options{}), configOf(t, file)))
			},
		}
		for client, who := range ask {
			t.Run("ECR-22 "+client+" logs in with a "+string(kind)+" from the example plugin", func(t *testing.T) {
				user := "client-" + string(kind)
				before := l.service.Issued(user)
				file := l.user(t, user, kind, lasting)
				if got, want := who(t, file), named(user, kind); got != want {
					t.Errorf("the server knows the user as %q, want %q", got, want)
				}
				if client == "STK-5 unmodified client-go" {
					return // its cache is the process's
				}
				if got := l.service.Issued(user) - before; got != 1 {
					t.Errorf("%d logins, want 1", got)
				}
			})
		}
	}
	t.Run("ECR-22 ten kubectl at once cause one login when the plugin keeps a cache", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "cache")
		file := l.user(t, "ten", login.Certificate, lasting, func(c *clientcmdapi.ExecConfig) { c.Args = append(c.Args, "-cache", dir) })
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if got := kubectl(t, file, "get", "configmaps"); got.code != 0 {
					t.Errorf("kubectl: exit %d: %s", got.code, got.err)
				}
			})
		}
		all.Wait()
		if got := l.service.Asked("ten"); got != 1 {
			t.Errorf("%d logins, want 1", got)
		}
	})
}

func whoami(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo.Username
}

func askKubectl(t *testing.T, file string) string {
	t.Helper()
	got := kubectl(t, file, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	if got.code != 0 {
		t.Fatalf("kubectl: exit %d: %s", got.code, got.err)
	}
	return got.out
}

// askPlain is a client without anything of Kubernetes in it.
func askPlain(t *testing.T, file string) string {
	t.Helper()
	config, err := kubeconfig.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := config.Resolve("", kubeconfig.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := newPool(t, transport.Options{}).Client(*chosen.Exec, chosen.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	question := []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	response, err := client.Post(chosen.Cluster.Server+"/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/json", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var review authenticationv1.SelfSubjectReview
	if err := json.NewDecoder(response.Body).Decode(&review); err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %v", response.Status, err)
	}
	return review.Status.UserInfo.Username
}
