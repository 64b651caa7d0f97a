package connect

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

const (
	// DialTimeout is how long a kubelet may take to accept a connection.
	DialTimeout = 5 * time.Second
	// MaxIdle is how many idle connections are kept to each kubelet.
	MaxIdle = 16
)

// Kubelets finds and reaches kubelets. It is safe for concurrent use.
type Kubelets struct {
	nodes     *registry.Store
	transport *http.Transport
	open      *connections
	running   context.Context // ends when the server stops
	stop      context.CancelFunc
}

// NewKubelets returns Kubelets that looks nodes up in a store and presents the certificate of config, which also says
// whom kubelets' certificates must be signed by.
func NewKubelets(nodes *registry.Store, config *tls.Config) *Kubelets {
	open := newConnections(&net.Dialer{Timeout: DialTimeout})
	running, stop := context.WithCancel(context.Background())
	return &Kubelets{nodes: nodes, open: open, running: running, stop: stop, transport: &http.Transport{
		DialContext:         open.dial,
		TLSClientConfig:     config, // with a configuration of one's own there is no HTTP/2, which cannot be upgraded
		TLSHandshakeTimeout: DialTimeout,
		MaxIdleConnsPerHost: MaxIdle,
		IdleConnTimeout:     90 * time.Second,
	}}
}

// Close ends every session with an error, then every connection to a kubelet; new ones are refused.
func (k *Kubelets) Close() {
	k.stop()
	k.open.close()
}

// Open returns how many connections there are to kubelets.
func (k *Kubelets) Open() int { return k.open.count() }

// Location returns where a node's kubelet listens: the node's first InternalIP, else its first Hostname, and the port
// that the node reports.
func (k *Kubelets) Location(ctx context.Context, name string) (*url.URL, error) {
	node, err := registry.Get[*corev1.Node](ctx, k.nodes, metav1.NamespaceNone, name)
	if err != nil {
		return nil, err
	}
	port := node.Status.DaemonEndpoints.KubeletEndpoint.Port
	host := address(node, corev1.NodeInternalIP, corev1.NodeHostName)
	if host == "" || port == 0 {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("node %q has not said where its kubelet listens", name))
	}
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.Itoa(int(port)))}, nil
}

func address(node *corev1.Node, kinds ...corev1.NodeAddressType) string {
	for _, kind := range kinds {
		for _, a := range node.Status.Addresses {
			if a.Type == kind && a.Address != "" {
				return a.Address
			}
		}
	}
	return ""
}
