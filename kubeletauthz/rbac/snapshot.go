package rbac

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Snapshot is a Source over fixed slices, for tools and tests. Of several objects with the same name the first counts.
// The zero value grants nothing.
type Snapshot struct {
	// Cluster are the ClusterRoles.
	Cluster []*rbacv1.ClusterRole
	// Namespaced are the Roles of all namespaces.
	Namespaced []*rbacv1.Role
	// ClusterBindings are the ClusterRoleBindings.
	ClusterBindings []*rbacv1.ClusterRoleBinding
	// Bindings are the RoleBindings of all namespaces.
	Bindings []*rbacv1.RoleBinding
}

var _ Source = (*Snapshot)(nil)

// ClusterRole returns the first with the name, or ErrNotFound.
func (s *Snapshot) ClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	return first(s.Cluster, func(r *rbacv1.ClusterRole) bool { return r.Name == name })
}

// Role returns the first with the name in the namespace, or ErrNotFound.
func (s *Snapshot) Role(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	return first(s.Namespaced, func(r *rbacv1.Role) bool { return r.Namespace == namespace && r.Name == name })
}

// ClusterRoleBindings returns the slice itself.
func (s *Snapshot) ClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return s.ClusterBindings, nil
}

// RoleBindings returns those of the namespace, in order.
func (s *Snapshot) RoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	var found []*rbacv1.RoleBinding
	for _, b := range s.Bindings {
		if b.Namespace == namespace {
			found = append(found, b)
		}
	}
	return found, nil
}

func first[T any](objects []*T, is func(*T) bool) (*T, error) {
	if i := slices.IndexFunc(objects, is); i >= 0 {
		return objects[i], nil
	}
	return nil, ErrNotFound
}
