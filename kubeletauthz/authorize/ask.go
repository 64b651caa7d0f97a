package authorize

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// ask is how every review is asked. Whatever is not an answer is an error, and no error comes with a status: a missing
// reviewer, one that panics, and an answer that contradicts itself.
func ask(ctx context.Context, r Reviewer, spec authorizationv1.SubjectAccessReviewSpec) (status authorizationv1.SubjectAccessReviewStatus, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = NewPanicError(value)
		}
		if err != nil {
			status = authorizationv1.SubjectAccessReviewStatus{}
		}
	}()
	if r == nil {
		return status, ErrNoReviewer
	}
	status, err = r.Review(ctx, spec)
	if err == nil && status.Allowed && status.Denied {
		err = ErrContradiction
	}
	return status, err
}
