package rbac

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Source gives the roles and bindings. What it returns is read and never changed, so it may be shared.
//
// A ClusterRole with an aggregationRule is expected with its rules filled in, as the API server stores it.
type Source interface {
	// ClusterRole returns one ClusterRole, or an error that wraps [ErrNotFound].
	ClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error)
	// Role returns one Role, or an error that wraps [ErrNotFound].
	Role(ctx context.Context, namespace, name string) (*rbacv1.Role, error)
	// ClusterRoleBindings returns all of them; their order decides which of several grants is named.
	ClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error)
	// RoleBindings returns those of one namespace; their order decides which of several grants is named.
	RoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error)
}
