package registry

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Get returns one object of a store; namespace is empty for what has none. The error is NotFound when it is missing.
func Get[T runtime.Object](ctx context.Context, s *Store, namespace, name string) (T, error) {
	var none T
	object, err := s.Store.Get(request.WithNamespace(ctx, namespace), name, &metav1.GetOptions{})
	if err != nil {
		return none, err
	}
	typed, ok := object.(T)
	if !ok {
		return none, fmt.Errorf("%s %q is a %T, not a %T", s.DefaultQualifiedResource, name, object, none)
	}
	return typed, nil
}

// List returns the objects of a store in one namespace, or in all when it is empty, by namespace and name.
func List[T runtime.Object](ctx context.Context, s *Store, namespace string) ([]T, error) {
	list, err := s.Store.List(request.WithNamespace(ctx, namespace), &metainternal.ListOptions{})
	if err != nil {
		return nil, err
	}
	var objects []T
	err = meta.EachListItem(list, func(object runtime.Object) error {
		objects = append(objects, object.(T))
		return nil
	})
	return objects, err
}
