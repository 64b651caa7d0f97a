package connect

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilproxy "k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/lanyard-dev/lanyard/execaudit"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// NodeProxy is nodes/proxy: any request to a kubelet. One to its exec endpoint is treated as one through pods/exec is,
// because the kubelet starts the same process for it.
type NodeProxy struct {
	// Kubelets reaches the node.
	Kubelets *Kubelets
	// Env validates, injects and counts.
	Env execapi.Exec
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
	return proxied{n, name, location, auditID(ctx), responder}, nil
}

// proxied is one request on its way to a kubelet.
type proxied struct {
	*NodeProxy
	node      string
	location  *url.URL // without a query
	auditID   string
	responder rest.Responder
}

// ServeHTTP implements http.Handler. The query goes into the location for what upgrades, as every exec does, and into
// the request for what does not: UpgradeAwareHandler takes it from there.
func (p proxied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	location, _, err := p.Env.InjectProxied(r, p.location, p.auditID)
	if err != nil {
		p.responder.Error(p.refusal(err))
		return
	}
	asked, sent := *r.URL, r.WithContext(r.Context())
	asked.RawQuery = location.RawQuery
	sent.URL = &asked
	utilproxy.NewUpgradeAwareHandler(location, p.Kubelets.transport, true, false, utilproxy.NewErrorResponder(p.responder)).ServeHTTP(w, sent)
}

// refusal is the answer that pods/exec gives.
func (p proxied) refusal(err error) error {
	if execaudit.FaultsOf(err) == nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return invalidExec(p.node, err)
}
