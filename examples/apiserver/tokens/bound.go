package tokens

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// bind finds what a token is to be bound to. A pod's token also says which node the pod is on.
func (r *Request) bind(ctx context.Context, ref *authenticationv1.BoundObjectReference, account *corev1.ServiceAccount) (private, error) {
	p := private{Namespace: account.Namespace, ServiceAccount: reference{account.Name, account.UID}}
	if ref == nil {
		return p, nil
	}
	var err error
	switch schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind) {
	case corev1.SchemeGroupVersion.WithKind("Pod"):
		err = r.bindPod(ctx, ref, account, &p)
	case corev1.SchemeGroupVersion.WithKind("Secret"):
		err = r.bindSecret(ctx, ref, account, &p)
	case corev1.SchemeGroupVersion.WithKind("Node"):
		err = r.bindNode(ctx, ref, &p)
	default:
		err = apierrors.NewBadRequest(fmt.Sprintf("a token cannot be bound to %s of %s: only to a Pod, Secret or Node of v1", ref.Kind, ref.APIVersion))
	}
	return p, err
}

func (r *Request) bindPod(ctx context.Context, ref *authenticationv1.BoundObjectReference, account *corev1.ServiceAccount, p *private) error {
	pod, err := registry.Get[*corev1.Pod](ctx, r.Registry.Pods, account.Namespace, ref.Name)
	if err != nil {
		return err
	}
	if pod.Spec.ServiceAccountName != account.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("pod %q does not run as service account %q", pod.Name, account.Name))
	}
	p.Pod = &reference{pod.Name, pod.UID}
	if node, err := registry.Get[*corev1.Node](ctx, r.Registry.Nodes, metav1.NamespaceNone, pod.Spec.NodeName); err == nil {
		p.Node = &reference{node.Name, node.UID}
	}
	return sameUID(ref, pod.UID)
}

func (r *Request) bindSecret(ctx context.Context, ref *authenticationv1.BoundObjectReference, account *corev1.ServiceAccount, p *private) error {
	secret, err := registry.Get[*corev1.Secret](ctx, r.Registry.Secrets, account.Namespace, ref.Name)
	if err != nil {
		return err
	}
	p.Secret = &reference{secret.Name, secret.UID}
	return sameUID(ref, secret.UID)
}

func (r *Request) bindNode(ctx context.Context, ref *authenticationv1.BoundObjectReference, p *private) error {
	node, err := registry.Get[*corev1.Node](ctx, r.Registry.Nodes, metav1.NamespaceNone, ref.Name)
	if err != nil {
		return err
	}
	p.Node = &reference{node.Name, node.UID}
	return sameUID(ref, node.UID)
}

func sameUID(ref *authenticationv1.BoundObjectReference, uid types.UID) error {
	if ref.UID == "" || ref.UID == uid {
		return nil
	}
	return apierrors.NewConflict(schema.GroupResource{Resource: ref.Kind}, ref.Name,
		fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record", ref.UID))
}
