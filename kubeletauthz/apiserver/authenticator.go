package apiserver

import (
	"net/http"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Authenticator lets one of k8s.io/apiserver's authenticators decide who makes a request: certificates, tokens, or both.
// An authenticator that knows a request but gives no user knows nobody.
func Authenticator(a authenticator.Request) middleware.Authenticator {
	return middleware.AuthenticatorFunc(func(r *http.Request) (authorize.User, bool, error) {
		response, known, err := a.AuthenticateRequest(r)
		if err != nil || !known || response == nil || response.User == nil {
			return authorize.User{}, false, err
		}
		return User(response.User), true, nil
	})
}

// User returns a user with what it has: name, UID, groups and extra. The slices in it are shared.
func User(u user.Info) authorize.User {
	found := authorize.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	if extra := u.GetExtra(); extra != nil {
		found.Extra = make(map[string]authorizationv1.ExtraValue, len(extra))
		for name, values := range extra {
			found.Extra[name] = values
		}
	}
	return found
}
