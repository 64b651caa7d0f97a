package rbac

import (
	"context"
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// ErrAttributes says that a review asks about no attributes or about both kinds.
var ErrAttributes = errors.New("review needs either resource or non-resource attributes")

// Review answers a SubjectAccessReview, as the API server does for its own RBAC.
//
// An error of Authorize becomes the EvaluationError of a refusal. The error is [ErrAttributes], unless
// the spec has exactly one kind of attributes. Field and label selectors are ignored: RBAC has no rules about them.
func (a *Authorizer) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	r := Request{User: spec.User, Groups: spec.Groups}
	switch resource, path := spec.ResourceAttributes, spec.NonResourceAttributes; {
	case (resource == nil) == (path == nil):
		return authorizationv1.SubjectAccessReviewStatus{}, ErrAttributes
	case resource != nil:
		r.Verb, r.APIGroup, r.Namespace, r.Name = resource.Verb, resource.Group, resource.Namespace, resource.Name
		r.Resource, r.Subresource = resource.Resource, resource.Subresource
	default:
		r.NonResource, r.Verb, r.Path = true, path.Verb, path.Path
	}
	answer, err := a.Authorize(ctx, r)
	status := authorizationv1.SubjectAccessReviewStatus{Allowed: answer.Allowed}
	if answer.Allowed {
		status.Reason = "RBAC: allowed by " + answer.Grant.String()
	}
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status, nil
}
