package bridge

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// Groups of people, by what they may do.
const (
	// Developers may read pods and open sessions in them.
	Developers = "developers"
	// Operators may use nodes/proxy, by which the kubelet runs commands that no webhook sees.
	Operators = "operators"
)

// Person makes a user who is a developer, and of further groups.
func (r *Rig) Person(ctx context.Context, name string, groups ...string) (*kubernetes.User, error) {
	for group, rule := range map[string][]rbacv1.PolicyRule{
		Developers: {
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"pods/exec", "pods/attach", "pods/portforward"}, Verbs: []string{"get", "create"}},
			{APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}, Verbs: []string{"update", "patch"}},
		},
		Operators: {{APIGroups: []string{""}, Resources: []string{"nodes/proxy"}, Verbs: []string{"get", "create"}}},
	} {
		if err := r.allow(ctx, group, rule); err != nil {
			return nil, fmt.Errorf("group %s: %w", group, err)
		}
	}
	return r.Certificate(name, append([]string{Developers}, groups...)...)
}

// allow gives a group the rules; again is no error.
func (r *Rig) allow(ctx context.Context, group string, rules []rbacv1.PolicyRule) error {
	named, rbac := metav1.ObjectMeta{Name: "lanyard:" + group}, r.Client().RbacV1()
	_, err := rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: named, Rules: rules}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: named,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: named.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
