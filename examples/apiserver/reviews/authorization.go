package reviews

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Authorization returns the resources of authorization.k8s.io.
func Authorization(a authorizer.Authorizer, rules authorizer.RuleResolver) map[string]rest.Storage {
	d := decider{a, rules}
	return map[string]rest.Storage{
		"subjectaccessreviews": &review[*authorizationv1.SubjectAccessReview]{
			singular: "subjectaccessreview",
			empty:    func() runtime.Object { return &authorizationv1.SubjectAccessReview{} },
			answer:   d.subject,
		},
		"localsubjectaccessreviews": &review[*authorizationv1.LocalSubjectAccessReview]{
			singular: "localsubjectaccessreview", namespaced: true,
			empty:  func() runtime.Object { return &authorizationv1.LocalSubjectAccessReview{} },
			answer: d.local,
		},
		"selfsubjectaccessreviews": &review[*authorizationv1.SelfSubjectAccessReview]{
			singular: "selfsubjectaccessreview",
			empty:    func() runtime.Object { return &authorizationv1.SelfSubjectAccessReview{} },
			answer:   d.self,
		},
		"selfsubjectrulesreviews": &review[*authorizationv1.SelfSubjectRulesReview]{
			singular: "selfsubjectrulesreview",
			empty:    func() runtime.Object { return &authorizationv1.SelfSubjectRulesReview{} },
			answer:   d.selfRules,
		},
	}
}

type decider struct {
	authorizer authorizer.Authorizer
	rules      authorizer.RuleResolver
}

func (d decider) subject(ctx context.Context, r *authorizationv1.SubjectAccessReview) error {
	if r.Spec.User == "" && len(r.Spec.Groups) == 0 {
		return apierrors.NewBadRequest("a SubjectAccessReview names a user or a group")
	}
	var err error
	r.Status, err = d.decide(ctx, subject(r.Spec), r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return err
}

func (d decider) local(ctx context.Context, r *authorizationv1.LocalSubjectAccessReview) error {
	resource := r.Spec.ResourceAttributes
	if resource == nil || resource.Namespace != request.NamespaceValue(ctx) {
		return apierrors.NewBadRequest("a LocalSubjectAccessReview is about resources of its own namespace")
	}
	var err error
	r.Status, err = d.decide(ctx, subject(r.Spec), resource, nil)
	return err
}

func (d decider) self(ctx context.Context, r *authorizationv1.SelfSubjectAccessReview) error {
	u, ok := request.UserFrom(ctx)
	if !ok {
		return apierrors.NewBadRequest("no user in the request")
	}
	var err error
	r.Status, err = d.decide(ctx, u, r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return err
}

func (d decider) decide(ctx context.Context, u user.Info, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) (authorizationv1.SubjectAccessReviewStatus, error) {
	if (resource == nil) == (path == nil) {
		return authorizationv1.SubjectAccessReviewStatus{}, apierrors.NewBadRequest("give resourceAttributes or nonResourceAttributes, and not both")
	}
	decision, reason, err := d.authorizer.Authorize(ctx, attributes(u, resource, path))
	status := authorizationv1.SubjectAccessReviewStatus{
		Allowed: decision == authorizer.DecisionAllow,
		Denied:  decision == authorizer.DecisionDeny,
		Reason:  reason,
	}
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status, nil
}

func (d decider) selfRules(ctx context.Context, r *authorizationv1.SelfSubjectRulesReview) error {
	u, ok := request.UserFrom(ctx)
	if !ok || r.Spec.Namespace == "" {
		return apierrors.NewBadRequest("a SelfSubjectRulesReview names a namespace")
	}
	resources, urls, incomplete, err := d.rules.RulesFor(ctx, u, r.Spec.Namespace)
	r.Status = authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{}, Incomplete: incomplete,
	}
	for _, rule := range resources {
		r.Status.ResourceRules = append(r.Status.ResourceRules, authorizationv1.ResourceRule{
			Verbs: rule.GetVerbs(), APIGroups: rule.GetAPIGroups(), Resources: rule.GetResources(), ResourceNames: rule.GetResourceNames(),
		})
	}
	for _, rule := range urls {
		r.Status.NonResourceRules = append(r.Status.NonResourceRules, authorizationv1.NonResourceRule{
			Verbs: rule.GetVerbs(), NonResourceURLs: rule.GetNonResourceURLs(),
		})
	}
	if err != nil {
		r.Status.EvaluationError = err.Error()
	}
	return nil
}
