package registry

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// Registry holds the storage of every resource that is stored.
type Registry struct {
	// Namespaces to ClusterRoleBindings are the stores, for the parts of the server that look things up.
	Namespaces, Pods, Nodes, ServiceAccounts, Secrets, ConfigMaps, Events *Store
	Services, PersistentVolumes, PersistentVolumeClaims                   *Store
	CSIDrivers, CSINodes, Leases                                          *Store
	Roles, RoleBindings, ClusterRoles, ClusterRoleBindings                *Store

	all    map[schema.GroupVersion]map[string]rest.Storage
	byKind map[schema.GroupKind]*Store
}

// New builds the registry over a backend. Registries of one backend share its objects. groups is the server's version
// and its gate SupplementalGroupsPolicy.
func New(k kinds.Kinds, backend *memory.Backend, groups admission.Component) (*Registry, error) {
	r := &Registry{all: map[schema.GroupVersion]map[string]rest.Storage{}, byKind: map[schema.GroupKind]*Store{}}
	b := builder{kinds: k, backend: backend, registry: r}
	r.Namespaces = add(&b, namespaces())
	r.Pods = add(&b, pods(groups))
	r.Nodes = add(&b, nodes(groups))
	r.ServiceAccounts = add(&b, serviceAccounts())
	r.Secrets = add(&b, secrets())
	r.ConfigMaps = add(&b, configMaps())
	r.Events = add(&b, events())
	r.Services = add(&b, services())
	r.PersistentVolumes = add(&b, persistentVolumes())
	r.PersistentVolumeClaims = add(&b, persistentVolumeClaims())
	r.CSIDrivers = add(&b, csiDrivers())
	r.CSINodes = add(&b, csiNodes())
	r.Leases = add(&b, leases())
	r.Roles = add(&b, roleObjects())
	r.RoleBindings = add(&b, roleBindings())
	r.ClusterRoles = add(&b, clusterRoles())
	r.ClusterRoleBindings = add(&b, clusterRoleBindings())
	if b.err != nil {
		return nil, b.err
	}
	r.all[corev1.SchemeGroupVersion]["pods/binding"] = &Binding{r.Pods.Store}
	r.connectNamespaces()
	return r, nil
}

// Storage returns the storage of each resource and subresource of a group version; the caller may add to it.
func (r *Registry) Storage(version schema.GroupVersion) map[string]rest.Storage {
	found := map[string]rest.Storage{}
	for name, s := range r.all[version] {
		found[name] = s
	}
	return found
}

// ForKind returns the store of a kind of objects, nil for one that is not stored.
func (r *Registry) ForKind(kind schema.GroupKind) *Store { return r.byKind[kind] }

// Destroy releases what the stores hold.
func (r *Registry) Destroy() {
	for _, resources := range r.all {
		for _, s := range resources {
			s.Destroy()
		}
	}
}

// builder collects stores until the first error.
type builder struct {
	kinds    kinds.Kinds
	backend  *memory.Backend
	registry *Registry
	err      error
}

func add[T runtime.Object](b *builder, r resource[T]) *Store {
	if b.err != nil {
		return nil
	}
	store, status, err := r.store(b.kinds, b.backend)
	if err != nil {
		b.err = fmt.Errorf("registry: %w", err)
		return nil
	}
	of, _, err := b.kinds.Scheme.ObjectKinds(r.newObject())
	if err != nil {
		b.err = fmt.Errorf("registry: %w", err)
		return nil
	}
	b.registry.byKind[of[0].GroupKind()] = store
	resources := b.registry.all[r.version]
	if resources == nil {
		resources = map[string]rest.Storage{}
		b.registry.all[r.version] = resources
	}
	resources[r.plural] = store
	if status != nil {
		resources[r.plural+"/status"] = status
	}
	return store
}
