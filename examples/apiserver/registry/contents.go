package registry

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// connectNamespaces does what controllers do elsewhere: a new namespace gets its default service account, a deleted one
// takes everything in it along.
func (r *Registry) connectNamespaces() {
	r.Namespaces.AfterCreate = func(object runtime.Object, options *metav1.CreateOptions) {
		if len(options.DryRun) > 0 {
			return
		}
		name := object.(*corev1.Namespace).Name
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: name}}
		ctx := request.WithNamespace(context.Background(), name)
		_, err := r.ServiceAccounts.Create(ctx, account, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
		report(err)
	}
	r.Namespaces.AfterDelete = func(object runtime.Object, _ *metav1.DeleteOptions) {
		ctx := request.WithNamespace(context.Background(), object.(*corev1.Namespace).Name)
		atOnce := int64(0)
		for _, store := range r.byKind {
			if !store.CreateStrategy.NamespaceScoped() {
				continue
			}
			_, err := store.DeleteCollection(ctx, rest.ValidateAllObjectFunc,
				&metav1.DeleteOptions{GracePeriodSeconds: &atOnce}, &metainternal.ListOptions{})
			report(err)
		}
	}
}

// report hands on what no caller waits for: the hooks of the generic store return nothing.
func report(err error) {
	if err != nil {
		utilruntime.HandleError(err)
	}
}
