package registry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
)

// resource is one kind of object that is stored. T is a pointer to its Go type. Every hook may be nil.
type resource[T runtime.Object] struct {
	version    schema.GroupVersion
	plural     string
	singular   string
	short      []string
	namespaced bool
	newObject  func() runtime.Object
	newList    func() runtime.Object
	columns    []column[T]

	// fill sets what the server decides when an object is created.
	fill func(T)
	// keep carries over into an update what an update of the object itself must not change.
	keep func(updated, old T)
	// keepForStatus carries over into an update of the status everything but the status; without it there is none.
	keepForStatus func(updated, old T)
	// validate and validateUpdate return what is wrong beyond the metadata.
	validate       func(T) field.ErrorList
	validateUpdate func(updated, old T) field.ErrorList
	// validateStatus returns what is wrong with an update of the status.
	validateStatus func(T) field.ErrorList
	// validName is the rule for names; nil means a DNS subdomain.
	validName func(name string, prefix bool) []string
	// grace says how many seconds a deletion waits when the client did not say; nil or 0 is at once.
	grace func(T) int64
	// ttl is how many seconds objects live; 0 is forever.
	ttl uint64
}

// Store is the REST storage of one resource.
type Store struct {
	*genericregistry.Store
	short []string
}

var _ rest.ShortNamesProvider = (*Store)(nil)

// ShortNames implements rest.ShortNamesProvider.
func (s *Store) ShortNames() []string { return s.short }

// store builds the storage of the resource, and that of its status, nil when it has none of its own.
func (r resource[T]) store(k kinds.Kinds, backend *memory.Backend) (*Store, *Status, error) {
	s := strategy[T]{ObjectTyper: k.Scheme, resource: r}
	group := schema.GroupResource{Group: r.version.Group, Resource: r.plural}
	store := &genericregistry.Store{
		NewFunc: r.newObject, NewListFunc: r.newList,
		DefaultQualifiedResource:  group,
		SingularQualifiedResource: schema.GroupResource{Group: r.version.Group, Resource: r.singular},
		PredicateFunc:             predicate,
		CreateStrategy:            s, UpdateStrategy: s, DeleteStrategy: r.deletion(s),
		TableConvertor: table[T]{columns: r.columns},
	}
	if r.ttl > 0 {
		store.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return r.ttl, nil }
	}
	err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: r.options(k, backend), AttrFunc: attributes})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", group, err)
	}
	if r.keepForStatus == nil {
		return &Store{store, r.short}, nil, nil
	}
	forStatus := *store
	forStatus.UpdateStrategy = statusStrategy[T]{s}
	return &Store{store, r.short}, &Status{&forStatus}, nil
}

// options puts the memory in the place of etcd.
func (r resource[T]) options(k kinds.Kinds, backend *memory.Backend) generic.RESTOptions {
	prefix := r.version.Group + "/" + r.plural
	return generic.RESTOptions{
		StorageConfig: &storagebackend.ConfigForResource{Config: storagebackend.Config{
			Codec: k.Codecs.LegacyCodec(r.version), EncodeVersioner: r.version,
		}},
		ResourcePrefix:          prefix,
		DeleteCollectionWorkers: 1,
		Decorator: func(_ *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error),
			newObject, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
		) (storage.Interface, factory.DestroyFunc, error) {
			return backend.Storage(prefix, newObject), func() {}, nil
		},
	}
}

// predicate is what lists and watches select by.
func predicate(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
	return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: attributes}
}

// attributes returns what label and field selectors see of an object.
func attributes(object runtime.Object) (labels.Set, fields.Set, error) {
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, nil, err
	}
	set := fields.Set{"metadata.name": m.GetName(), "metadata.namespace": m.GetNamespace()}
	for name, value := range kinds.Fields(object) {
		set[name] = value
	}
	return labels.Set(m.GetLabels()), set, nil
}
