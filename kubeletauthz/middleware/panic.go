package middleware

import (
	"errors"
	"net/http"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
)

// authenticate turns a panic into an error, as authorize does, so that a part that panics refuses like one that fails.
func (g *guard) authenticate(r *http.Request) (user authorize.User, known bool, err error) {
	defer caught(&err)
	return g.Authenticator.Authenticate(r)
}

func (g *guard) authorize(r *http.Request, user authorize.User, attributes kubeletauthz.Attributes) (verdict authorize.Verdict, err error) {
	defer caught(&err)
	return g.Authorizer.Authorize(r.Context(), user, attributes)
}

func caught(err *error) {
	if value := recover(); value != nil {
		*err = authorize.NewPanicError(value)
	}
}

// logFault leaves out a panic's value, which may hold anything, and shows where it came from instead.
func (g *guard) logFault(r *http.Request, message string, err error, more ...any) {
	var fault *authorize.PanicError
	if errors.As(err, &fault) {
		more = append(more, "stack", string(fault.Stack.Reveal()))
	}
	g.Logger.ErrorContext(r.Context(), message, append(more, "error", err)...)
}
