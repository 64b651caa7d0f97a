package kubernetes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/ca"
)

// User is somebody who calls the API server, or a kubelet.
type User struct {
	// Name is the user's name.
	Name string
	// Kubeconfig is a file with the API server and the user's credentials, which it holds itself.
	Kubeconfig string
	// Config is the same for client-go. It has no limit of requests.
	Config *rest.Config

	cluster *Cluster
}

// Certificate makes a user in groups with a client certificate.
func (c *Cluster) Certificate(name string, groups ...string) (*User, error) {
	pair, err := c.authority.Client(name, groups...)
	if err != nil {
		return nil, err
	}
	return c.User(name, &clientcmdapi.AuthInfo{ClientCertificateData: pair.Cert, ClientKeyData: pair.Key})
}

// ServiceAccount makes the user that a service account is, with a token for the audiences; without any, for the API
// server's. The service account must exist.
func (c *Cluster) ServiceAccount(ctx context.Context, namespace, name string, audiences ...string) (*User, error) {
	answer, err := c.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: audiences},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return c.User("system:serviceaccount:"+namespace+":"+name, &clientcmdapi.AuthInfo{Token: answer.Status.Token})
}

// User makes a user of any credentials: a token, an exec plugin, none.
func (c *Cluster) User(name string, auth *clientcmdapi.AuthInfo) (*User, error) {
	file, err := c.kubeconfig(name, auth)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return &User{Name: name, Kubeconfig: file, Config: config, cluster: c}, nil
}

// kubeconfig writes a new file.
func (c *Cluster) kubeconfig(name string, auth *clientcmdapi.AuthInfo) (string, error) {
	f, err := os.CreateTemp(filepath.Join(c.dir, "users"), strings.ReplaceAll(name, "/", "-")+".*.kubeconfig")
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["lanyard"] = &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.authority.PEM()}
	config.AuthInfos[name] = auth
	config.Contexts["lanyard"] = &clientcmdapi.Context{Cluster: "lanyard", AuthInfo: name}
	config.CurrentContext = "lanyard"
	return f.Name(), clientcmd.WriteToFile(*config, f.Name())
}

// Client calls the API server as the user.
func (u *User) Client() (*clientset.Clientset, error) { return clientset.NewForConfig(u.Config) }

// HTTP sends the user's credentials with every request, to the API server or to a kubelet, whose certificates it
// trusts.
func (u *User) HTTP() (*http.Client, error) { return rest.HTTPClientFor(u.Config) }

// wellAt returns nil where a GET of the URL succeeds.
func (u *User) wellAt(ctx context.Context, url string) error {
	client, err := u.HTTP()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, tailBytes))
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", answer.Status, body)
	}
	return err
}

// writePair writes a certificate and its key into a directory, the key for its owner only.
func writePair(dir, name string, pair ca.Pair, err error) (certificate, key string, _ error) {
	if err != nil {
		return "", "", fmt.Errorf("certificate of %s: %w", name, err)
	}
	certificate, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	if err := os.WriteFile(certificate, pair.Cert, 0o644); err != nil {
		return "", "", err
	}
	return certificate, key, os.WriteFile(key, pair.Key, 0o600)
}
