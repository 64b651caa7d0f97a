package apiserver

import (
	"context"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Unconditional is the part of an authorizer that is the same in every version of k8s.io/apiserver.
type Unconditional interface {
	Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error)
}

// Reviewer lets one of k8s.io/apiserver's authorizers answer reviews. A decision that comes with an error is not an
// answer, even when it allows. Field and label selectors are not passed on: such a question is asked about all objects,
// which grants less.
//
// The reviewer returns the authorizer's error, and [rbac.ErrAttributes] unless a review has exactly one kind of
// attributes.
func Reviewer(a Unconditional) authorize.Reviewer {
	return authorize.ReviewerFunc(func(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
		record, err := recordOf(spec)
		if err != nil {
			return authorizationv1.SubjectAccessReviewStatus{}, err
		}
		decision, reason, err := a.Authorize(ctx, record)
		if err != nil {
			return authorizationv1.SubjectAccessReviewStatus{}, err
		}
		return authorizationv1.SubjectAccessReviewStatus{
			Allowed: decision == authorizer.DecisionAllow,
			Denied:  decision == authorizer.DecisionDeny,
			Reason:  reason,
		}, nil
	})
}

func recordOf(spec authorizationv1.SubjectAccessReviewSpec) (authorizer.AttributesRecord, error) {
	record := authorizer.AttributesRecord{User: userOf(spec)}
	resource, path := spec.ResourceAttributes, spec.NonResourceAttributes
	switch {
	case (resource == nil) == (path == nil):
		return record, rbac.ErrAttributes
	case path != nil:
		record.Verb, record.Path = path.Verb, path.Path
		return record, nil
	}
	record.ResourceRequest = true
	record.Verb, record.Namespace, record.Name = resource.Verb, resource.Namespace, resource.Name
	record.APIGroup, record.APIVersion = resource.Group, resource.Version
	record.Resource, record.Subresource = resource.Resource, resource.Subresource
	return record, nil
}

func userOf(spec authorizationv1.SubjectAccessReviewSpec) user.Info {
	u := &user.DefaultInfo{Name: spec.User, UID: spec.UID, Groups: spec.Groups}
	if spec.Extra != nil {
		u.Extra = make(map[string][]string, len(spec.Extra))
		for name, values := range spec.Extra {
			u.Extra[name] = values
		}
	}
	return u
}
