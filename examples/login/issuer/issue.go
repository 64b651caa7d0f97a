package issuer

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/login"
)

const (
	// clockGrace is how much longer a certificate lives than its user is told.
	clockGrace = time.Minute
	// minToken is the shortest life of a service account token, as API servers have it.
	minToken = 10 * time.Minute
)

func (s *Service) issue(ctx context.Context, request login.Request, user User) (login.Answer, error) {
	switch {
	case request.Kind == login.Certificate:
		return s.certificate(request.User, user)
	case request.Kind == login.Token && user.Account != "":
		return s.token(ctx, user)
	}
	return login.Answer{}, fmt.Errorf("no %s for %q", request.Kind, request.User)
}

func (s *Service) certificate(name string, user User) (login.Answer, error) {
	expires := time.Now().Add(user.Lifetime)
	pair, err := s.options.Authority.ClientUntil(expires.Add(clockGrace), name, user.Groups...)
	return login.Answer{Certificate: string(pair.Cert), Key: string(pair.Key), Expires: expires}, err
}

func (s *Service) token(ctx context.Context, user User) (login.Answer, error) {
	seconds := int64(max(user.Lifetime, minToken).Seconds())
	made, err := s.options.Accounts.CoreV1().ServiceAccounts(user.Namespace).CreateToken(ctx, user.Account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return login.Answer{}, err
	}
	expires := time.Now().Add(user.Lifetime)
	if made.Status.ExpirationTimestamp.Time.Before(expires) {
		expires = made.Status.ExpirationTimestamp.Time
	}
	return login.Answer{Token: made.Status.Token, Expires: expires}, nil
}
