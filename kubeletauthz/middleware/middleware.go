package middleware

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
)

// Authenticator says who makes a request.
type Authenticator interface {
	// Authenticate returns the user; false for a request without credentials that it knows; and an error for a request
	// whose credentials could not be checked. For the last two the response is 401.
	Authenticate(*http.Request) (authorize.User, bool, error)
}

// AuthenticatorFunc is a function as an Authenticator.
type AuthenticatorFunc func(*http.Request) (authorize.User, bool, error)

// Authenticate calls the function.
func (f AuthenticatorFunc) Authenticate(r *http.Request) (authorize.User, bool, error) { return f(r) }

// Authorizer decides a request by its attributes; [authorize.Authorizer] and [authorize.AlwaysAllow] are two.
type Authorizer interface {
	Authorize(context.Context, authorize.User, kubeletauthz.Attributes) (authorize.Verdict, error)
}

// Options configure a guard.
type Options struct {
	// Authenticator is required.
	Authenticator Authenticator
	// Authorizer is required.
	Authorizer Authorizer
	// Mapper maps requests to attributes; the zero value maps as a kubelet without fine-grained authorization.
	Mapper kubeletauthz.Mapper
	// Logger, when set, gets faults at level error (of a panic the stack, not the value), and at level debug the
	// refusals with the reasons that no response carries.
	Logger *slog.Logger
}

// ErrIncomplete says that an Authenticator or an Authorizer is missing.
var ErrIncomplete = errors.New("guard needs an authenticator and an authorizer")

// New returns a guard: it wraps a handler so that only requests that are authenticated and allowed reach it, with the
// user in their context. It returns [ErrIncomplete] when a part is missing.
func New(o Options) (func(http.Handler) http.Handler, error) {
	if o.Authenticator == nil || o.Authorizer == nil {
		return nil, ErrIncomplete
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return func(next http.Handler) http.Handler {
		return &guard{Options: o, next: next}
	}, nil
}

type guard struct {
	Options
	next http.Handler
}

// ServeHTTP authenticates, authorizes and hands on.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, known, err := g.authenticate(r)
	if err != nil {
		g.logFault(r, "unable to authenticate the request", err)
	}
	if err != nil || !known {
		refuse(w, http.StatusUnauthorized, unauthorized)
		return
	}
	attributes := g.Mapper.Map(r.Method, r.URL.Path, r.URL.RawPath)
	verdict, err := g.authorize(r, user, attributes)
	switch {
	case err != nil:
		g.logFault(r, "authorization error", err, "user", user.Name)
		refuse(w, http.StatusInternalServerError, fault(user, attributes, err))
	case !verdict.Allowed:
		g.Logger.DebugContext(r.Context(), "forbidden", "user", user.Name, "verb", attributes.Verb(),
			"subresources", attributes.Subresources(), "reason", verdict.Reason)
		refuse(w, http.StatusForbidden, forbidden(user, attributes))
	default:
		g.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, user)))
	}
}

type userKey struct{}

// User returns who made the request that a guard let pass, and false in any other context.
func User(ctx context.Context) (authorize.User, bool) {
	user, found := ctx.Value(userKey{}).(authorize.User)
	return user, found
}
