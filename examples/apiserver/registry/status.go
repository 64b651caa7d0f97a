package registry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Status is the status subresource of a resource: its updates change the status and nothing else.
type Status struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher        = (*Status)(nil)
	_ rest.TableConvertor = (*Status)(nil)
)

// New implements rest.Storage.
func (s *Status) New() runtime.Object { return s.store.New() }

// Destroy implements rest.Storage; the resource itself owns what there is.
func (s *Status) Destroy() {}

// Get implements rest.Getter.
func (s *Status) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

// Update implements rest.Updater. A status cannot be created.
func (s *Status) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc,
	update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, create, update, false, options)
}

// ConvertToTable implements rest.TableConvertor.
func (s *Status) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, object, options)
}
