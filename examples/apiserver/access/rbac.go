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

// RBAC is the authorizer over the stored roles and bindings. A change of them counts for the next request.
type RBAC struct {
	rules *rbac.Authorizer
}

var _ authorizer.Authorizer = (*RBAC)(nil)

// NewRBAC returns the authorizer over a registry.
func NewRBAC(r *registry.Registry) *RBAC {
	return &RBAC{rules: rbac.New(stored{r})}
}

// Authorize implements authorizer.Authorizer. It allows or has no opinion; rules that could not be read are in the reason.
func (r *RBAC) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	answer, err := r.rules.Authorize(ctx, question(a))
	switch {
	case answer.Allowed:
		return authorizer.DecisionAllow, "RBAC: allowed by " + answer.Grant.String(), nil
	case err != nil:
		return authorizer.DecisionNoOpinion, "RBAC: " + err.Error(), nil
	default:
		return authorizer.DecisionNoOpinion, "", nil
	}
}

// ConditionsAwareAuthorize implements authorizer.Authorizer: rules have no conditions.
func (r *RBAC) ConditionsAwareAuthorize(ctx context.Context, a authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(r.Authorize(ctx, a))
}

// EvaluateConditions implements authorizer.Authorizer: there are none to evaluate.
func (r *RBAC) EvaluateConditions(context.Context, authorizer.ConditionsAwareDecision, authorizer.ConditionsData) (authorizer.Decision, string, error) {
	return authorizer.DecisionDeny, "", authorizer.ErrorConditionEvaluationNotSupported
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

func question(a authorizer.Attributes) rbac.Request {
	u := a.GetUser()
	return rbac.Request{
		User: u.GetName(), Groups: u.GetGroups(), Verb: a.GetVerb(),
		APIGroup: a.GetAPIGroup(), Resource: a.GetResource(), Subresource: a.GetSubresource(),
		Namespace: a.GetNamespace(), Name: a.GetName(),
		NonResource: !a.IsResourceRequest(), Path: a.GetPath(),
	}
}
