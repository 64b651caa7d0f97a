package connect

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Attach is pods/attach. It never carries an environment: the process is running already (KEP-6035, Scope).
type Attach struct {
	// Pods finds the pod.
	Pods Pods
	// Authorizer decides whether a GET may open a session.
	Authorizer authorizer.Authorizer
}

var _ rest.Connecter = (*Attach)(nil)

// New implements rest.Storage.
func (*Attach) New() runtime.Object { return &corev1.Pod{} }

// Destroy implements rest.Storage.
func (*Attach) Destroy() {}

// ConnectMethods implements rest.Connecter.
func (*Attach) ConnectMethods() []string { return sessionMethods[:] }

// NewConnectOptions implements rest.Connecter.
func (*Attach) NewConnectOptions() (runtime.Object, bool, string) {
	return &corev1.PodAttachOptions{}, false, ""
}

// Connect implements rest.Connecter.
func (a *Attach) Connect(ctx context.Context, name string, options runtime.Object, responder rest.Responder) (http.Handler, error) {
	if err := mayCreate(ctx, a.Authorizer); err != nil {
		return nil, err
	}
	if err := readable(ctx); err != nil {
		return nil, err
	}
	o, ok := options.(*corev1.PodAttachOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T are not attach options", options))
	}
	pod, err := a.Pods.get(ctx, name)
	if err != nil {
		return nil, err
	}
	in, err := container(pod, o.Container)
	if err != nil {
		return nil, err
	}
	s := streams{o.Stdin, o.Stdout, o.Stderr, o.TTY}
	location, err := a.Pods.location(ctx, "attach", pod, in, s.query())
	if err != nil {
		return nil, err
	}
	return session{a.Pods.Kubelets, location, s, responder}, nil
}
