package reviews

import (
	"context"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Authentication returns the resources of authentication.k8s.io. audiences are the server's own, for a TokenReview that
// names none.
func Authentication(a authenticator.Request, audiences authenticator.Audiences) map[string]rest.Storage {
	return map[string]rest.Storage{
		"tokenreviews": &review[*authenticationv1.TokenReview]{
			singular: "tokenreview",
			empty:    func() runtime.Object { return &authenticationv1.TokenReview{} },
			answer:   tokens{a, audiences}.answer,
		},
		"selfsubjectreviews": &review[*authenticationv1.SelfSubjectReview]{
			singular: "selfsubjectreview",
			empty:    func() runtime.Object { return &authenticationv1.SelfSubjectReview{} },
			answer:   self,
		},
	}
}

type tokens struct {
	authenticator authenticator.Request
	audiences     authenticator.Audiences
}

// answer authenticates the token as if a request had brought it.
func (t tokens) answer(ctx context.Context, r *authenticationv1.TokenReview) error {
	if r.Spec.Token == "" {
		return apierrors.NewBadRequest("token is required for a TokenReview")
	}
	wanted := authenticator.Audiences(r.Spec.Audiences)
	if len(wanted) == 0 {
		wanted = t.audiences
	}
	fake := (&http.Request{Header: http.Header{"Authorization": {"Bearer " + r.Spec.Token}}}).
		WithContext(authenticator.WithAudiences(ctx, wanted))
	response, ok, err := t.authenticator.AuthenticateRequest(fake)
	r.Status = authenticationv1.TokenReviewStatus{Authenticated: ok}
	if err != nil {
		r.Status.Error = err.Error()
	}
	if ok {
		r.Status.User = info(response.User)
		r.Status.Audiences = response.Audiences
	}
	return nil
}

// self says who the caller is, after impersonation.
func self(ctx context.Context, r *authenticationv1.SelfSubjectReview) error {
	u, ok := request.UserFrom(ctx)
	if !ok {
		return apierrors.NewBadRequest("no user in the request")
	}
	r.CreationTimestamp = metav1.Now()
	r.Status.UserInfo = info(u)
	return nil
}

func info(u user.Info) authenticationv1.UserInfo {
	i := authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	for key, values := range u.GetExtra() {
		if i.Extra == nil {
			i.Extra = map[string]authenticationv1.ExtraValue{}
		}
		i.Extra[key] = values
	}
	return i
}
