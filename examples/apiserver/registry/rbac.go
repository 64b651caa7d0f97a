package registry

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func clusterRoles() resource[*rbacv1.ClusterRole] {
	return resource[*rbacv1.ClusterRole]{
		version: rbacv1.SchemeGroupVersion, plural: "clusterroles", singular: "clusterrole",
		newObject: func() runtime.Object { return &rbacv1.ClusterRole{} },
		newList:   func() runtime.Object { return &rbacv1.ClusterRoleList{} },
		validName: pathSegment,
		validate: func(r *rbacv1.ClusterRole) field.ErrorList {
			if r.AggregationRule != nil {
				return field.ErrorList{field.Forbidden(field.NewPath("aggregationRule"), "roles are not aggregated by this server")}
			}
			return validateRules(r.Rules, true)
		},
	}
}

func roleObjects() resource[*rbacv1.Role] {
	return resource[*rbacv1.Role]{
		version: rbacv1.SchemeGroupVersion, plural: "roles", singular: "role", namespaced: true,
		newObject: func() runtime.Object { return &rbacv1.Role{} },
		newList:   func() runtime.Object { return &rbacv1.RoleList{} },
		validName: pathSegment,
		validate:  func(r *rbacv1.Role) field.ErrorList { return validateRules(r.Rules, false) },
	}
}

func clusterRoleBindings() resource[*rbacv1.ClusterRoleBinding] {
	return resource[*rbacv1.ClusterRoleBinding]{
		version: rbacv1.SchemeGroupVersion, plural: "clusterrolebindings", singular: "clusterrolebinding",
		newObject: func() runtime.Object { return &rbacv1.ClusterRoleBinding{} },
		newList:   func() runtime.Object { return &rbacv1.ClusterRoleBindingList{} },
		validName: pathSegment,
		columns: []column[*rbacv1.ClusterRoleBinding]{
			{name: "Role", kind: "string", cell: func(b *rbacv1.ClusterRoleBinding) any { return b.RoleRef.Kind + "/" + b.RoleRef.Name }},
		},
		fill: func(b *rbacv1.ClusterRoleBinding) { complete(b.Subjects, &b.RoleRef) },
		keep: func(updated, _ *rbacv1.ClusterRoleBinding) { complete(updated.Subjects, &updated.RoleRef) },
		validate: func(b *rbacv1.ClusterRoleBinding) field.ErrorList {
			return validateBinding(b.Subjects, b.RoleRef, "ClusterRole")
		},
		validateUpdate: func(updated, old *rbacv1.ClusterRoleBinding) field.ErrorList {
			return unchanged(updated.RoleRef, old.RoleRef, field.NewPath("roleRef"))
		},
	}
}

func roleBindings() resource[*rbacv1.RoleBinding] {
	return resource[*rbacv1.RoleBinding]{
		version: rbacv1.SchemeGroupVersion, plural: "rolebindings", singular: "rolebinding", namespaced: true,
		newObject: func() runtime.Object { return &rbacv1.RoleBinding{} },
		newList:   func() runtime.Object { return &rbacv1.RoleBindingList{} },
		validName: pathSegment,
		columns: []column[*rbacv1.RoleBinding]{
			{name: "Role", kind: "string", cell: func(b *rbacv1.RoleBinding) any { return b.RoleRef.Kind + "/" + b.RoleRef.Name }},
		},
		fill: func(b *rbacv1.RoleBinding) { complete(b.Subjects, &b.RoleRef) },
		keep: func(updated, _ *rbacv1.RoleBinding) { complete(updated.Subjects, &updated.RoleRef) },
		validate: func(b *rbacv1.RoleBinding) field.ErrorList {
			return validateBinding(b.Subjects, b.RoleRef, "ClusterRole", "Role")
		},
		validateUpdate: func(updated, old *rbacv1.RoleBinding) field.ErrorList {
			return unchanged(updated.RoleRef, old.RoleRef, field.NewPath("roleRef"))
		},
	}
}

// pathSegment allows the colons of names such as system:node, and nothing that would be more than one step of a path.
func pathSegment(name string, _ bool) []string {
	if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
		return []string{"may not be '.' or '..' or contain '/' or '%'"}
	}
	return nil
}

// complete fills in the API groups that clients may leave out.
func complete(subjects []rbacv1.Subject, ref *rbacv1.RoleRef) {
	if ref.APIGroup == "" {
		ref.APIGroup = rbacv1.GroupName
	}
	for i := range subjects {
		if subjects[i].APIGroup == "" && subjects[i].Kind != rbacv1.ServiceAccountKind {
			subjects[i].APIGroup = rbacv1.GroupName
		}
	}
}

// validateRules refuses rules that could never mean anything.
func validateRules(rules []rbacv1.PolicyRule, cluster bool) field.ErrorList {
	var faults field.ErrorList
	for i, rule := range rules {
		at := field.NewPath("rules").Index(i)
		if len(rule.Verbs) == 0 {
			faults = append(faults, field.Required(at.Child("verbs"), "at least one verb"))
		}
		urls := len(rule.NonResourceURLs) > 0
		switch {
		case urls && !cluster:
			faults = append(faults, field.Forbidden(at.Child("nonResourceURLs"), "only a ClusterRole may have them"))
		case urls && len(rule.Resources) > 0:
			faults = append(faults, field.Forbidden(at.Child("nonResourceURLs"), "a rule is about URLs or about resources"))
		case !urls && len(rule.Resources) == 0:
			faults = append(faults, field.Required(at.Child("resources"), "at least one resource"))
		case !urls && len(rule.APIGroups) == 0:
			faults = append(faults, field.Required(at.Child("apiGroups"), "at least one group"))
		}
	}
	return faults
}

func validateBinding(subjects []rbacv1.Subject, ref rbacv1.RoleRef, roleKinds ...string) field.ErrorList {
	var faults field.ErrorList
	if ref.Name == "" {
		faults = append(faults, field.Required(field.NewPath("roleRef", "name"), ""))
	}
	faults = append(faults, oneOf(ref.Kind, field.NewPath("roleRef", "kind"), roleKinds...)...)
	for i, s := range subjects {
		at := field.NewPath("subjects").Index(i)
		faults = append(faults, oneOf(s.Kind, at.Child("kind"), rbacv1.UserKind, rbacv1.GroupKind, rbacv1.ServiceAccountKind)...)
		if s.Name == "" {
			faults = append(faults, field.Required(at.Child("name"), ""))
		}
		if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == "" {
			faults = append(faults, field.Required(at.Child("namespace"), "a service account has one"))
		}
	}
	return faults
}

func oneOf[V ~string](value V, at *field.Path, allowed ...V) field.ErrorList {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(at, value, allowed)}
}
