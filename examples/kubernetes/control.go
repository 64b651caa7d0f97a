package kubernetes

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// etcdPort is etcd's, in a network where nobody else is.
const etcdPort = "2379"

// kubeletClientUser is the API server as kubelets see it.
const kubeletClientUser = "kube-apiserver-kubelet-client"

// StartEtcd starts etcd and returns when it takes connections. An API server asks until its answers are good.
func (c *Cluster) StartEtcd(ctx context.Context) error {
	address := net.JoinHostPort(loopback, etcdPort)
	_, err := c.run(ctx, c.spaces, "etcd", Command{Program: "etcd", Flags: []string{
		"--data-dir=" + filepath.Join(c.dir, "etcd"), "--listen-client-urls=http://" + address, "--advertise-client-urls=http://" + address,
		"--listen-peer-urls=http://" + net.JoinHostPort(loopback, "2380"), "--unsafe-no-fsync", "--log-level=warn",
	}}, func(ctx context.Context) error {
		conn, err := c.Dial(ctx, "tcp", address)
		if err == nil {
			conn.Close()
		}
		return err
	}, 0)
	return err
}

// StartAPIServer starts the API server over etcd, or what the options put in its place, and returns when it is ready,
// the kubelets' APIs are open to it, and the default namespace is complete.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	command, err := c.apiServerCommand()
	if err != nil {
		return err
	}
	if c.options.Reference {
		refer(&command)
	}
	if c.options.APIServer != nil {
		c.options.APIServer(&command)
	}
	if c.apiserver, err = c.run(ctx, c.spaces, "kube-apiserver", command, c.answersReadyz, 0); err != nil {
		return err
	}
	if err := c.letKubeletsIn(ctx); err != nil {
		return err
	}
	return c.completeNamespace(ctx, metav1.NamespaceDefault)
}

// answersReadyz asks without client-go, which repeats what fails a second later.
func (c *Cluster) answersReadyz(ctx context.Context) error {
	return c.admin.wellAt(ctx, c.URL()+"/readyz")
}

func (c *Cluster) apiServerCommand() (Command, error) {
	serving, err := c.authority.Server(loopback, "localhost", c.address(0).String())
	servingCert, servingKey, err := writePair(c.dir, "apiserver", serving, err)
	if err != nil {
		return Command{}, err
	}
	client, err := c.authority.Client(kubeletClientUser)
	clientCert, clientKey, err := writePair(c.dir, "kubelet-client", client, err)
	if err != nil {
		return Command{}, err
	}
	signing, public, err := c.tokenKeys()
	if err != nil {
		return Command{}, err
	}
	policy := c.options.AuditPolicy
	if policy == "" {
		policy = DefaultAuditPolicy
	}
	policyFile := filepath.Join(c.dir, "audit-policy.yaml")
	return Command{Program: "kube-apiserver", Flags: []string{
		"--etcd-servers=http://" + net.JoinHostPort(loopback, etcdPort),
		"--bind-address=0.0.0.0", "--secure-port=" + strconv.Itoa(c.port), "--advertise-address=" + c.address(0).String(),
		"--service-cluster-ip-range=10.96.0.0/24",
		"--tls-cert-file=" + servingCert, "--tls-private-key-file=" + servingKey, "--client-ca-file=" + c.AuthorityFile(),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--kubelet-certificate-authority=" + c.AuthorityFile(), "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + clientCert, "--kubelet-client-key=" + clientKey,
		"--service-account-issuer=" + c.URL(), "--service-account-signing-key-file=" + signing, "--service-account-key-file=" + public,
		"--audit-policy-file=" + policyFile, "--audit-log-path=" + c.AuditLog(),
	}}, os.WriteFile(policyFile, []byte(policy), 0o644)
}

// tokenKeys makes the keys of service account tokens and returns their files.
func (c *Cluster) tokenKeys() (signing, public string, _ error) {
	signing, public = filepath.Join(c.dir, "tokens.key"), filepath.Join(c.dir, "tokens.pub")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", "", err
	}
	shown, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", "", err
	}
	return signing, public, errors.Join(
		os.WriteFile(signing, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: shown}), 0o644),
	)
}

// letKubeletsIn gives the API server the right to use the kubelets' APIs, as installers do.
func (c *Cluster) letKubeletsIn(ctx context.Context) error {
	_, err := c.client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "lanyard:kubelet-client"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:kubelet-api-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: kubeletClientUser}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Namespace makes a namespace in which pods can run at once.
func (c *Cluster) Namespace(ctx context.Context, name string) error {
	_, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return c.completeNamespace(ctx, name)
}

// completeNamespace makes what a controller manager makes in every namespace, where that has not: the default service
// account, and the authority's certificate beside its tokens.
func (c *Cluster) completeNamespace(ctx context.Context, name string) error {
	objects := c.client.CoreV1()
	_, account := objects.ServiceAccounts(name).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	_, authority := objects.ConfigMaps(name).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": string(c.authority.PEM())},
	}, metav1.CreateOptions{})
	for _, err := range []error{account, authority} {
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	return nil
}

// controllersGrace is how long the controller manager may take to end.
const controllersGrace = 5 * time.Second

// StartControllerManager starts the controller manager and returns when it is well.
func (c *Cluster) StartControllerManager(ctx context.Context) error {
	user, err := c.Certificate("system:kube-controller-manager")
	if err != nil {
		return err
	}
	const port = "10257"
	command := Command{Program: "kube-controller-manager", Flags: []string{
		"--kubeconfig=" + user.Kubeconfig, "--bind-address=" + loopback, "--secure-port=" + port, "--leader-elect=false",
		"--use-service-account-credentials", "--service-account-private-key-file=" + filepath.Join(c.dir, "tokens.key"),
		"--root-ca-file=" + c.AuthorityFile(),
	}}
	if c.options.Controllers != nil {
		c.options.Controllers(&command)
	}
	_, err = c.run(ctx, c.spaces, "kube-controller-manager", command, func(ctx context.Context) error {
		conn, err := c.Dial(ctx, "tcp", net.JoinHostPort(loopback, port))
		if err == nil {
			conn.Close()
		}
		return err
	}, controllersGrace)
	return err
}
