package connect

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
)

// PortForward is pods/portforward.
type PortForward struct {
	// Pods finds the pod.
	Pods Pods
	// Authorizer decides whether a GET may open a session.
	Authorizer authorizer.Authorizer
}

var _ rest.Connecter = (*PortForward)(nil)

// New implements rest.Storage.
func (*PortForward) New() runtime.Object { return &corev1.Pod{} }

// Destroy implements rest.Storage.
func (*PortForward) Destroy() {}

// ConnectMethods implements rest.Connecter.
func (*PortForward) ConnectMethods() []string { return sessionMethods[:] }

// NewConnectOptions implements rest.Connecter.
func (*PortForward) NewConnectOptions() (runtime.Object, bool, string) {
	return &corev1.PodPortForwardOptions{}, false, ""
}

// Connect implements rest.Connecter.
func (p *PortForward) Connect(ctx context.Context, name string, options runtime.Object, responder rest.Responder) (http.Handler, error) {
	if err := mayCreate(ctx, p.Authorizer); err != nil {
		return nil, err
	}
	if err := readable(ctx); err != nil {
		return nil, err
	}
	o, ok := options.(*corev1.PodPortForwardOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T are not port-forward options", options))
	}
	pod, err := p.Pods.get(ctx, name)
	if err != nil {
		return nil, err
	}
	location, err := p.Pods.location(ctx, "portForward", pod, "", ports(o.Ports))
	if err != nil {
		return nil, err
	}
	return p.Pods.Kubelets.forwardHandler(location, responder), nil
}

// ports is for WebSocket clients; SPDY clients name theirs in each stream.
func ports(numbers []int32) url.Values {
	if len(numbers) == 0 {
		return nil
	}
	var texts []string
	for _, n := range numbers {
		texts = append(texts, strconv.Itoa(int(n)))
	}
	return url.Values{"port": {strings.Join(texts, ",")}}
}
