package authorize

import (
	"errors"
	"fmt"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

var (
	// ErrContradiction says that a review was answered with allowed and denied at once. It is no answer.
	ErrContradiction = errors.New("review both allows and denies")

	// ErrNotAReview says that a server's answer to a review is not a SubjectAccessReview of authorization.k8s.io/v1.
	ErrNotAReview = errors.New("answer is not a SubjectAccessReview")

	// ErrTooLarge says that a server's answer to a review exceeds [MaxAnswerBytes].
	ErrTooLarge = errors.New("answer is too large")
)

// Error says that a question about a request had no answer, so that the request is refused.
type Error struct {
	// Attribute is the question; later ones were not asked.
	Attribute kubeletauthz.Attribute
	// Err is the Reviewer's error, or ErrContradiction.
	Err error
}

// Error names the question and the cause.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s/%s on %q: %v", e.Attribute.Verb, e.Attribute.Resource, e.Attribute.Subresource, e.Attribute.Name, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// StatusError says that a server answered a review with an HTTP status other than 200 and 201.
type StatusError struct {
	// Code is the HTTP status.
	Code int
	// Body is how the answer's text begins, at most [MaxErrorBytes].
	Body string
}

// Error gives the status and the quoted text.
func (e *StatusError) Error() string {
	return fmt.Sprintf("review answered with status %d: %q", e.Code, e.Body)
}
