package connect

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilproxy "k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/lanyard-dev/lanyard/execaudit"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// NodeProxy is nodes/proxy: any request to a kubelet. A request to its exec endpoint that carries a reserved name is
// refused, because validation of PodExecOptions does not see it.
type NodeProxy struct {
	// Kubelets reaches the node.
	Kubelets *Kubelets
	// Reserved says which names are refused.
	Reserved execaudit.Reserved
}

var _ rest.Connecter = (*NodeProxy)(nil)

// New implements rest.Storage.
func (*NodeProxy) New() runtime.Object { return &corev1.Node{} }

// Destroy implements rest.Storage.
func (*NodeProxy) Destroy() {}

// ConnectMethods implements rest.Connecter.
func (*NodeProxy) ConnectMethods() []string {
	return []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodHead, http.MethodOptions,
	}
}

// NewConnectOptions implements rest.Connecter: what follows proxy/ is the path.
func (*NodeProxy) NewConnectOptions() (runtime.Object, bool, string) {
	return &corev1.NodeProxyOptions{}, true, "path"
}

// Connect implements rest.Connecter.
func (n *NodeProxy) Connect(ctx context.Context, name string, options runtime.Object, responder rest.Responder) (http.Handler, error) {
	o, ok := options.(*corev1.NodeProxyOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T are not proxy options", options))
	}
	location, err := n.Kubelets.Location(ctx, name)
	if err != nil {
		return nil, err
	}
	location.Path = "/" + strings.TrimPrefix(o.Path, "/")
	handler := utilproxy.NewUpgradeAwareHandler(location, n.Kubelets.transport, true, false, utilproxy.NewErrorResponder(responder))
	refuse := func(_ http.ResponseWriter, _ *http.Request, err error) {
		responder.Error(apierrors.NewForbidden(corev1.Resource("nodes/proxy"), name, err))
	}
	return execapi.WithProxyCheck(handler, n.Reserved, refuse), nil
}
