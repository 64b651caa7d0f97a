package tokens

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// Stored is the Objects of a registry.
type Stored struct {
	// Registry is asked for every token.
	Registry *registry.Registry
}

var _ Objects = Stored{}

// ServiceAccountUID implements Objects.
func (s Stored) ServiceAccountUID(ctx context.Context, namespace, name string) (types.UID, error) {
	return living(registry.Get[*corev1.ServiceAccount](ctx, s.Registry.ServiceAccounts, namespace, name))
}

// PodUID implements Objects. A pod that is being deleted counts until it is gone, as long as it may still work.
func (s Stored) PodUID(ctx context.Context, namespace, name string) (types.UID, error) {
	pod, err := registry.Get[*corev1.Pod](ctx, s.Registry.Pods, namespace, name)
	if err != nil {
		return "", err
	}
	return pod.UID, nil
}

// SecretUID implements Objects.
func (s Stored) SecretUID(ctx context.Context, namespace, name string) (types.UID, error) {
	return living(registry.Get[*corev1.Secret](ctx, s.Registry.Secrets, namespace, name))
}

// NodeUID implements Objects.
func (s Stored) NodeUID(ctx context.Context, name string) (types.UID, error) {
	return living(registry.Get[*corev1.Node](ctx, s.Registry.Nodes, metav1.NamespaceNone, name))
}

func living(object metav1.Object, err error) (types.UID, error) {
	if err != nil {
		return "", err
	}
	if object.GetDeletionTimestamp() != nil {
		return "", errors.New("is being deleted")
	}
	return object.GetUID(), nil
}
