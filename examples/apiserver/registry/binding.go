package registry

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
)

// Binding is pods/binding: it gives a pod to a node, once.
type Binding struct {
	pods *genericregistry.Store
}

var _ rest.NamedCreater = (*Binding)(nil)

// New implements rest.Storage.
func (b *Binding) New() runtime.Object { return &corev1.Binding{} }

// Destroy implements rest.Storage.
func (b *Binding) Destroy() {}

// Create implements rest.NamedCreater. It errs with Conflict when the pod has a node already or is being deleted.
func (b *Binding) Create(ctx context.Context, name string, object runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	binding, ok := object.(*corev1.Binding)
	if !ok || binding.Target.Name == "" || binding.Target.Kind != "Node" && binding.Target.Kind != "" {
		return nil, apierrors.NewBadRequest("a binding's target is a Node with a name")
	}
	if validate != nil {
		if err := validate(ctx, object.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	key, err := b.pods.KeyFunc(ctx, name)
	if err != nil {
		return nil, err
	}
	dryRun := len(options.DryRun) > 0
	err = b.pods.Storage.GuaranteedUpdate(ctx, key, &corev1.Pod{}, false, nil, bind(binding.Target.Name), dryRun, nil)
	if storage.IsNotFound(err) {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	if err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}

func bind(node string) storage.UpdateFunc {
	return storage.SimpleUpdate(func(object runtime.Object) (runtime.Object, error) {
		pod := object.(*corev1.Pod)
		if pod.DeletionTimestamp != nil || pod.Spec.NodeName != "" {
			return nil, apierrors.NewConflict(corev1.Resource("pods/binding"), pod.Name, errors.New("the pod has a node or is being deleted"))
		}
		pod.Spec.NodeName = node
		return pod, nil
	})
}
