package access

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// Namespaces is the admission plugin that lets objects into namespaces that exist only, and keeps those that the server
// itself needs from being deleted.
type Namespaces struct {
	// Registry holds the namespaces.
	Registry *registry.Registry
}

var _ admission.ValidationInterface = (*Namespaces)(nil)

// Reserved lists the namespaces that every server has.
func Reserved() []string {
	return []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}
}

// Handles implements admission.Interface.
func (n *Namespaces) Handles(o admission.Operation) bool {
	return o == admission.Create || o == admission.Delete
}

// Validate implements admission.ValidationInterface.
func (n *Namespaces) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	isNamespace := a.GetResource().GroupResource() == corev1.Resource("namespaces")
	switch {
	case isNamespace && a.GetOperation() == admission.Delete:
		return keep(a)
	case isNamespace || a.GetNamespace() == "" || a.GetOperation() == admission.Delete:
		return nil
	}
	namespace, err := registry.Get[*corev1.Namespace](ctx, n.Registry.Namespaces, metav1.NamespaceNone, a.GetNamespace())
	if apierrors.IsNotFound(err) {
		return apierrors.NewNotFound(corev1.Resource("namespaces"), a.GetNamespace())
	}
	if err == nil && namespace.DeletionTimestamp != nil {
		return admission.NewForbidden(a, fmt.Errorf("namespace %q is being deleted", namespace.Name))
	}
	return err
}

func keep(a admission.Attributes) error {
	for _, name := range Reserved() {
		if a.GetName() == name {
			return admission.NewForbidden(a, fmt.Errorf("namespace %q is needed by the server", name))
		}
	}
	return nil
}
