package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// serviceAccountPrefix starts the user name of every service account: prefix, namespace, colon, name.
const serviceAccountPrefix = "system:serviceaccount:"

// subjectIncludes reports whether a binding's subject is the user or one of the user's groups.
//
// namespace is the binding's own, empty for a ClusterRoleBinding: a ServiceAccount subject without a namespace lives
// there, and in a ClusterRoleBinding it matches nobody. Unknown kinds match nobody.
func subjectIncludes(subject rbacv1.Subject, user string, groups []string, namespace string) bool {
	switch subject.Kind {
	case rbacv1.UserKind:
		return user == subject.Name
	case rbacv1.GroupKind:
		return slices.Contains(groups, subject.Name)
	case rbacv1.ServiceAccountKind:
		if subject.Namespace != "" {
			namespace = subject.Namespace
		}
		return namespace != "" && user == serviceAccountPrefix+namespace+":"+subject.Name
	default:
		return false
	}
}

// includes returns the first subject that includes the user.
func includes(subjects []rbacv1.Subject, user string, groups []string, namespace string) (rbacv1.Subject, bool) {
	for _, subject := range subjects {
		if subjectIncludes(subject, user, groups, namespace) {
			return subject, true
		}
	}
	return rbacv1.Subject{}, false
}
