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
	// Role is the reference the binding holds.
	Role rbacv1.RoleRef
	// Subject is the first of the binding's subjects that includes the user.
	Subject rbacv1.Subject
	// Index is the rule's position in its role, from 0.
	Index int
	// Rule is the rule itself; its slices are the Source's and are not to be changed.
	Rule rbacv1.PolicyRule
}

// String says which binding grants it, in the words of Kubernetes' own reason: ClusterRoleBinding "b" of ClusterRole "r"
// to User "u".
func (g Grant) String() string {
	return fmt.Sprintf("%s %q of %s %q to %s %q", g.BindingKind, qualified(g.BindingNamespace, g.BindingName),
		g.Role.Kind, g.Role.Name, g.Subject.Kind, subjectName(g.Subject))
}

// subjectName is written name first for service accounts, as Kubernetes' reasons do.
func subjectName(s rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return s.Name + "/" + s.Namespace
	}
	return s.Name
}
