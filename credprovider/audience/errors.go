package audience

import (
	"errors"
	"fmt"
)

// ErrAudiences is the error of a request for several audiences.
var ErrAudiences = errors.New("node may only request 0 or 1 audiences")

// BindingError says that a token is not bound as a node's must be.
type BindingError struct {
	// Rule is what the request breaks, in upstream's words.
	Rule string
}

// Error returns the rule.
func (e *BindingError) Error() string { return e.Rule }

// DeniedError says that an audience is neither in the pod's volumes nor allowed.
type DeniedError struct {
	// User is the node's user name.
	User string
	// Audience is the audience; empty is the API server's own.
	Audience string
	// Reason is the authorizer's, for the server's log; it is not in the text.
	Reason string
	// Err joins the errors of looking at volumes and of the authorizer; it may be nil.
	Err error
}

// Error returns the text of Kubernetes 1.37; up to 1.36 it named the pod's volumes, which made users add some.
func (e *DeniedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("error authorizing %s to request tokens for audience %q: %v", e.User, e.Audience, e.Err)
	}
	return fmt.Sprintf("%s is not authorized to request tokens for audience %q", e.User, e.Audience)
}

// Unwrap returns Err.
func (e *DeniedError) Unwrap() error { return e.Err }
