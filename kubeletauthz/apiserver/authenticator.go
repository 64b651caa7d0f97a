package apiserver

import (
	"net/http"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Authenticator lets one of k8s.io/apiserver's authenticators decide who makes a request: by certificate, by token, or
// both. The user has its name, UID, groups and extra. An authenticator that accepts a request but gives no user has not
// authenticated it.
func Authenticator(a authenticator.Request) middleware.Authenticator {
	return middleware.AuthenticatorFunc(func(r *http.Request) (authorize.User, bool, error) {
		response, known, err := a.AuthenticateRequest(r)
		if err != nil || !known || response == nil || response.User == nil {
			return authorize.User{}, false, err
		}
		return toUser(response.User), true, nil
	})
}

// toUser copies name, UID, groups and extra; the slices in it are shared.
func toUser(u user.Info) authorize.User {
	found := authorize.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	if extra := u.GetExtra(); extra != nil {
		found.Extra = make(map[string]authorizationv1.ExtraValue, len(extra))
		for name, values := range extra {
			found.Extra[name] = values
		}
	}
	return found
}
