package keys

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// cluster is where the keys of a cluster are.
type cluster struct {
	kubeconfig, namespace string
	secret, secretKey     string
	configMap, mapKey     string
	force                 bool

	clients kubernetes.Interface // nil until they are needed
}

func (k *cluster) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&k.kubeconfig, "kubeconfig", "", "credentials for the API server (default as kubectl's)")
	f.StringVar(&k.namespace, "namespace", "lanyard-system", "the namespace of the webhook and the nodes' daemon")
	f.StringVar(&k.secret, "secret", "lanyard-bridge-signing", "the Secret of the private keys")
	f.StringVar(&k.secretKey, "secret-key", "key", "the private keys' name in it")
	f.StringVar(&k.configMap, "config-map", "lanyard-bridge-keys", "the ConfigMap of the public keys")
	f.StringVar(&k.mapKey, "config-map-key", "keys", "the public keys' name in it")
}

func (k *cluster) connect() error {
	if k.clients != nil {
		return nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return err
	}
	k.clients, err = kubernetes.NewForConfig(config)
	return err
}

// private returns the Secret and its keys; a nil Secret is not there yet.
func (k *cluster) private(ctx context.Context) (*corev1.Secret, []Private, error) {
	if err := k.connect(); err != nil {
		return nil, nil, err
	}
	secret, err := k.clients.CoreV1().Secrets(k.namespace).Get(ctx, k.secret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if len(secret.Data[k.secretKey]) == 0 {
		return secret, nil, nil
	}
	keys, err := Parse(secret.Data[k.secretKey])
	if err != nil {
		return nil, nil, fmt.Errorf("secret %s/%s, %s: %w", k.namespace, k.secret, k.secretKey, err)
	}
	return secret, keys, nil
}

// installed is private of a Secret that must be there.
func (k *cluster) installed(ctx context.Context) (*corev1.Secret, []Private, error) {
	secret, keys, err := k.private(ctx)
	if err == nil && len(keys) == 0 {
		err = fmt.Errorf("secret %s/%s has no key: lanyard-bridge keys install makes one", k.namespace, k.secret)
	}
	return secret, keys, err
}

// public returns the ConfigMap and its keys; a nil ConfigMap is not there yet.
func (k *cluster) public(ctx context.Context) (*corev1.ConfigMap, token.Keys, error) {
	m, err := k.clients.CoreV1().ConfigMaps(k.namespace).Get(ctx, k.configMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(m.Data[k.mapKey]) == "" {
		return m, nil, nil
	}
	// What cannot be read is not overwritten: nodes may need a key of it.
	keys, err := token.ParseKeys(m.Data[k.mapKey])
	if err != nil {
		return nil, nil, fmt.Errorf("config map %s/%s, %s: %w", k.namespace, k.configMap, k.mapKey, err)
	}
	return m, keys, nil
}

// savePrivate fails with a conflict where somebody else changed the Secret since it was read.
func (k *cluster) savePrivate(ctx context.Context, secret *corev1.Secret, keys []Private) error {
	secrets := k.clients.CoreV1().Secrets(k.namespace)
	data := []byte(text(keys))
	if secret == nil {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: k.secret}, Data: map[string][]byte{k.secretKey: data}}
		_, err := secrets.Create(ctx, secret, metav1.CreateOptions{})
		return err
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[k.secretKey] = data
	_, err := secrets.Update(ctx, secret, metav1.UpdateOptions{})
	return err
}

// savePublic fails as savePrivate does.
func (k *cluster) savePublic(ctx context.Context, m *corev1.ConfigMap, keys token.Keys) error {
	maps := k.clients.CoreV1().ConfigMaps(k.namespace)
	if m == nil {
		m = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: k.configMap}, Data: map[string]string{k.mapKey: keys.Text()}}
		_, err := maps.Create(ctx, m, metav1.CreateOptions{})
		return err
	}
	if m.Data == nil {
		m.Data = map[string]string{}
	}
	m.Data[k.mapKey] = keys.Text()
	_, err := maps.Update(ctx, m, metav1.UpdateOptions{})
	return err
}
