package rbac

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Authorizer decides requests by the rules of a Source. It has no state of its own and is as safe for concurrent use
// as its Source.
type Authorizer struct {
	source Source
}

// New returns an Authorizer over source, which is asked anew for every request.
func New(source Source) *Authorizer {
	return &Authorizer{source: source}
}

// Answer is a decision with its reason. The zero value is a refusal.
type Answer struct {
	// Allowed reports whether a rule allows the request. RBAC does not deny: false means that no rule allows it.
	Allowed bool
	// Grant is the first rule that allows it, ClusterRoleBindings before RoleBindings; zero unless Allowed.
	Grant Grant
}

// Authorize reports whether any rule that the user has allows the request.
//
// An error means that no rule allowed it and that not every rule could be read: the Source's list errors and one
// [BindingError] for each binding whose role is missing, joined. As in Kubernetes, an allow found elsewhere stands
// despite broken bindings: then the error is nil.
func (a *Authorizer) Authorize(ctx context.Context, r Request) (Answer, error) {
	var answer Answer
	err := a.visit(ctx, r.User, r.Groups, r.Namespace, func(g Grant) bool {
		if !ruleAllows(g.Rule, r) {
			return true
		}
		answer = Answer{Allowed: true, Grant: g}
		return false
	})
	if answer.Allowed {
		return answer, nil
	}
	return Answer{}, err
}

// Grants returns every rule the user has in a namespace, or cluster-wide only when it is empty: ClusterRoleBindings
// first, then RoleBindings, each in the Source's order and each role's rules in theirs. The result is nil when there
// are none. The error is as Authorize's, and the grants that could be read come with it.
func (a *Authorizer) Grants(ctx context.Context, user string, groups []string, namespace string) ([]Grant, error) {
	var grants []Grant
	err := a.visit(ctx, user, groups, namespace, func(g Grant) bool {
		grants = append(grants, g)
		return true
	})
	return grants, err
}

// visit calls yield for each rule the user has until yield returns false, and joins what could not be read.
func (a *Authorizer) visit(ctx context.Context, user string, groups []string, namespace string, yield func(Grant) bool) error {
	bindings, err := a.bindings(ctx, namespace)
	errs := []error{err}
	for _, b := range bindings {
		subject, found := includes(b.subjects, user, groups, b.BindingNamespace)
		if !found {
			continue
		}
		rules, err := a.rules(ctx, b.Role, b.BindingNamespace)
		if err != nil {
			errs = append(errs, &BindingError{Kind: b.BindingKind, Namespace: b.BindingNamespace, Name: b.BindingName, Err: err})
		}
		b.Subject = subject
		if !b.each(rules, yield) {
			return nil
		}
	}
	return errors.Join(errs...)
}

// binding is a Grant whose rule is still to be filled in.
type binding struct {
	Grant
	subjects []rbacv1.Subject
}

func (b binding) each(rules []rbacv1.PolicyRule, yield func(Grant) bool) bool {
	for i, rule := range rules {
		b.Index, b.Rule = i, rule
		if !yield(b.Grant) {
			return false
		}
	}
	return true
}

// bindings lists those that count in a namespace. One list that cannot be read does not hide the other.
func (a *Authorizer) bindings(ctx context.Context, namespace string) ([]binding, error) {
	cluster, err := a.source.ClusterRoleBindings(ctx)
	if err != nil {
		cluster, err = nil, fmt.Errorf("cluster role bindings: %w", err)
	}
	found := make([]binding, 0, len(cluster))
	for _, b := range cluster {
		found = append(found, binding{Grant{BindingKind: "ClusterRoleBinding", BindingName: b.Name, Role: b.RoleRef}, b.Subjects})
	}
	if namespace == "" {
		return found, err
	}
	local, localErr := a.source.RoleBindings(ctx, namespace)
	if localErr != nil {
		return found, errors.Join(err, fmt.Errorf("role bindings of namespace %q: %w", namespace, localErr))
	}
	for _, b := range local {
		found = append(found, binding{Grant{BindingKind: "RoleBinding", BindingNamespace: namespace, BindingName: b.Name, Role: b.RoleRef}, b.Subjects})
	}
	return found, err
}

// rules follows a role reference; namespace is the binding's, empty for a ClusterRoleBinding, which cannot refer to a
// Role.
func (a *Authorizer) rules(ctx context.Context, ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch {
	case ref.Kind == "ClusterRole":
		role, err := a.source.ClusterRole(ctx, ref.Name)
		if err != nil {
			return nil, fmt.Errorf("cluster role %q: %w", ref.Name, err)
		}
		return role.Rules, nil
	case ref.Kind == "Role" && namespace != "":
		role, err := a.source.Role(ctx, namespace, ref.Name)
		if err != nil {
			return nil, fmt.Errorf("role %q: %w", qualified(namespace, ref.Name), err)
		}
		return role.Rules, nil
	default:
		return nil, fmt.Errorf("role reference %s %q: %w", ref.Kind, ref.Name, ErrRoleKind)
	}
}
