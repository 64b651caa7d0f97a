package authorize

import (
	"context"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// Reviewer answers a SubjectAccessReview. It must be safe for concurrent use, return soon after its context
// ends, and neither keep nor change the spec. One that does not return, or panics, allows nothing: see [Cache] and
// [Authorizer.Authorize].
//
// A nil error means that the status is an answer: Allowed, Denied, or neither, which is no opinion. An error means that
// there is no answer, whatever the status says.
type Reviewer interface {
	Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error)
}

// ReviewerFunc is a function as a Reviewer.
type ReviewerFunc func(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error)

// Review calls the function; a nil one gives [ErrNoReviewer].
func (f ReviewerFunc) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	if f == nil {
		return authorizationv1.SubjectAccessReviewStatus{}, ErrNoReviewer
	}
	return f(ctx, spec)
}

// specOf returns the question whether a user may do what an attribute says, as the kubelet asks it: user, UID, groups
// and extra as they are, and the attribute's fields without the request's path. It shares the user's groups and extra.
// Source: KEP-2862, Design Details.
func specOf(user User, a kubeletauthz.Attribute) authorizationv1.SubjectAccessReviewSpec {
	return authorizationv1.SubjectAccessReviewSpec{
		User:   user.Name,
		UID:    user.UID,
		Groups: user.Groups,
		Extra:  user.Extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb:        a.Verb,
			Version:     a.APIVersion,
			Resource:    a.Resource,
			Subresource: a.Subresource,
			Name:        a.Name,
		},
	}
}
