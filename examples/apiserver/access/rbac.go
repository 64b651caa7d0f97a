package access

import (
	"context"
	"errors"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
	"github.com/lanyard-dev/lanyard/kubeletauthz/apiserver"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
)

// stored is the rbac.Source over a registry.
type stored struct {
	registry *registry.Registry
}

var _ rbac.Source = stored{}

func (s stored) ClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	role, err := registry.Get[*rbacv1.ClusterRole](ctx, s.registry.ClusterRoles, metav1.NamespaceNone, name)
	return role, notFound(err)
}

func (s stored) Role(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	role, err := registry.Get[*rbacv1.Role](ctx, s.registry.Roles, namespace, name)
	return role, notFound(err)
}

func (s stored) ClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return registry.List[*rbacv1.ClusterRoleBinding](ctx, s.registry.ClusterRoleBindings, metav1.NamespaceAll)
}

func (s stored) RoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return registry.List[*rbacv1.RoleBinding](ctx, s.registry.RoleBindings, namespace)
}

func notFound(err error) error {
	if apierrors.IsNotFound(err) {
		return errors.Join(rbac.ErrNotFound, err)
	}
	return err
}

// RBAC is the authorizer over the stored roles and bindings. A change of them counts for the next request. It allows or
// has no opinion; rules that could not be read are in the reason.
type RBAC struct {
	authorizer.Authorizer
	rules *rbac.Authorizer
}

// NewRBAC returns the authorizer over a registry.
func NewRBAC(r *registry.Registry) *RBAC {
	rules := rbac.New(stored{r})
	return &RBAC{apiserver.RBAC(rules), rules}
}

// RulesFor implements authorizer.RuleResolver.
func (r *RBAC) RulesFor(ctx context.Context, u user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	grants, err := r.rules.Grants(ctx, u.GetName(), u.GetGroups(), namespace)
	var resources []authorizer.ResourceRuleInfo
	var urls []authorizer.NonResourceRuleInfo
	for _, g := range grants {
		if len(g.Rule.Resources) > 0 {
			resources = append(resources, &authorizer.DefaultResourceRuleInfo{
				Verbs: g.Rule.Verbs, APIGroups: g.Rule.APIGroups, Resources: g.Rule.Resources, ResourceNames: g.Rule.ResourceNames,
			})
		}
		if len(g.Rule.NonResourceURLs) > 0 && g.BindingNamespace == "" {
			urls = append(urls, &authorizer.DefaultNonResourceRuleInfo{Verbs: g.Rule.Verbs, NonResourceURLs: g.Rule.NonResourceURLs})
		}
	}
	return resources, urls, err != nil, err
}
