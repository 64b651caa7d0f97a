package apiserver

import (
	"context"
	"fmt"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// RBAC lets RBAC rules decide an API server's requests. As in Kubernetes, without a rule there is no opinion, and
// broken bindings are told in the reason instead of an error, so that they do not turn a refusal into a 500.
func RBAC(a *rbac.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		answer, err := a.Authorize(ctx, requestOf(attributes))
		switch {
		case answer.Allowed:
			return authorizer.DecisionAllow, "RBAC: allowed by " + answer.Grant.String(), nil
		case err != nil:
			return authorizer.DecisionNoOpinion, fmt.Sprintf("RBAC: %v", err), nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
}

func requestOf(a authorizer.Attributes) rbac.Request {
	r := rbac.Request{
		Verb:        a.GetVerb(),
		APIGroup:    a.GetAPIGroup(),
		Resource:    a.GetResource(),
		Subresource: a.GetSubresource(),
		Namespace:   a.GetNamespace(),
		Name:        a.GetName(),
		NonResource: !a.IsResourceRequest(),
		Path:        a.GetPath(),
	}
	if u := a.GetUser(); u != nil {
		r.User, r.Groups = u.GetName(), u.GetGroups()
	}
	return r
}
