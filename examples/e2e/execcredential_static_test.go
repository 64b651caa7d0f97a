package e2e_test

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// static has users with a plugin and something that needs none.
func (l *logins) static(t *testing.T) {
	account := l.tokenOf(t)
	alice := l.authOf(t, l.alice)
	for _, form := range []struct {
		name, want string // want is empty where the server takes no such credential
		set        func(*clientcmdapi.AuthInfo)
	}{
		{"basic", "", func(a *clientcmdapi.AuthInfo) { a.Username, a.Password = "static", loginPassword }},
		{"token based", "system:serviceaccount:default:login", func(a *clientcmdapi.AuthInfo) { a.Token = account }},
		{"cert based", "alice", func(a *clientcmdapi.AuthInfo) {
			a.ClientCertificateData, a.ClientKeyData = alice.ClientCertificateData, alice.ClientKeyData
		}},
	} {
		t.Run("ECR-15 STK-7 KEP-541 integration: "+form.name+" auth wins over the plugin", func(t *testing.T) {
			file := l.user(t, "static", login.Certificate, lasting)
			config, err := clientcmd.LoadFromFile(file)
			if err != nil {
				t.Fatal(err)
			}
			form.set(config.AuthInfos["static"])
			if err := clientcmd.WriteToFile(*config, file); err != nil {
				t.Fatal(err)
			}
			plain, err := stack.Client(file)
			if err != nil {
				t.Fatal(err)
			}
			for name, client := range map[string]kubernetes.Interface{
				"client-go": plain, "our transport": wrapped(t, newPool(t, transport.Options{}), configOf(t, file)),
			} {
				review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
				if form.want == "" && !apierrors.IsUnauthorized(err) || form.want != "" && (err != nil || review.Status.UserInfo.Username != form.want) {
					t.Errorf("%s: the server knows %q, %v, want %q", name, review.Status.UserInfo.Username, err, form.want)
				}
			}
			got := kubectl(t, file, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
			if strings.TrimSpace(got.out) != form.want {
				t.Errorf("kubectl: the server knows %q, want %q: %s", got.out, form.want, got.err)
			}
			if got := l.service.Asked("static"); got != 0 {
				t.Errorf("the plugin ran and logged in %d times", got)
			}
		})
	}
}

func (l *logins) tokenOf(t *testing.T) string {
	t.Helper()
	made, err := l.Admin().CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "login", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Status.Token
}

func (l *logins) authOf(t *testing.T, file string) *clientcmdapi.AuthInfo {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
}
