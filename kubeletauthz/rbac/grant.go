package rbac

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Grant is one rule that a user has: through which binding, from which role, as which subject.
type Grant struct {
	// BindingKind is ClusterRoleBinding or RoleBinding.
	BindingKind string
	// BindingNamespace is the namespace the grant is limited to, empty for a ClusterRoleBinding.
	BindingNamespace string
	// BindingName is the binding's name.
	BindingName string
	// Role is the binding's reference to its role.
	Role rbacv1.RoleRef
	// Subject is the first of the binding's subjects that includes the user.
	Subject rbacv1.Subject
	// Index is the rule's position in its role, from 0.
	Index int
	// Rule is the rule itself; its slices are the Source's and must not be changed.
	Rule rbacv1.PolicyRule
}

// String says which binding grants the rule, in the words of Kubernetes' own reason: ClusterRoleBinding "b" of
// ClusterRole "r" to User "u". Namespaces follow names: RoleBinding "b/namespace", ServiceAccount "s/namespace".
func (g Grant) String() string {
	binding, subject := g.BindingName, g.Subject.Name
	if g.BindingNamespace != "" {
		binding += "/" + g.BindingNamespace
	}
	if g.Subject.Kind == rbacv1.ServiceAccountKind {
		subject += "/" + g.Subject.Namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", g.BindingKind, binding, g.Role.Kind, g.Role.Name, g.Subject.Kind, subject)
}
