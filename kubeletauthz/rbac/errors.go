package rbac

import (
	"errors"
	"fmt"
)

// ErrNotFound says that a role does not exist.
var ErrNotFound = errors.New("role not found")

// ErrRoleKind says that a binding refers to a kind that it cannot bind: a ClusterRoleBinding binds only a ClusterRole,
// a RoleBinding a ClusterRole or a Role.
var ErrRoleKind = errors.New("binding cannot refer to this kind")

// BindingError says that a binding which includes the user has a role that could not be read. Other bindings still
// count.
type BindingError struct {
	// Kind is ClusterRoleBinding or RoleBinding.
	Kind string
	// Namespace is empty for a ClusterRoleBinding.
	Namespace string
	// Name is the binding's.
	Name string
	// Err is the Source's error, or says that the role reference has an unknown kind.
	Err error
}

// Error names the binding and the cause.
func (e *BindingError) Error() string {
	return fmt.Sprintf("%s %q: %v", e.Kind, qualified(e.Namespace, e.Name), e.Err)
}

// Unwrap returns the cause.
func (e *BindingError) Unwrap() error { return e.Err }

// qualified is "name" or "namespace/name".
func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
