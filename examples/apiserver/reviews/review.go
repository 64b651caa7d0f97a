package reviews

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// review is a resource that can only be created: the answer is the object, filled in. T is a pointer.
type review[T runtime.Object] struct {
	singular   string
	namespaced bool
	empty      func() runtime.Object
	answer     func(ctx context.Context, question T) error
}

var (
	_ rest.Creater              = (*review[runtime.Object])(nil)
	_ rest.Scoper               = (*review[runtime.Object])(nil)
	_ rest.SingularNameProvider = (*review[runtime.Object])(nil)
)

func (r *review[T]) New() runtime.Object     { return r.empty() }
func (r *review[T]) Destroy()                {}
func (r *review[T]) NamespaceScoped() bool   { return r.namespaced }
func (r *review[T]) GetSingularName() string { return r.singular }

// Create implements rest.Creater. It changes object, which the handler made for this request.
func (r *review[T]) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	question, ok := object.(T)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("unexpected object %T", object))
	}
	if validate != nil {
		if err := validate(ctx, object.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	return object, r.answer(ctx, question)
}
