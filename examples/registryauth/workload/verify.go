package workload

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// ErrRejected is the condition of a token that is not taken: of another issuer or
// audience, expired, not signed by the issuer, or not bound to a pod.
var ErrRejected = errors.New("service account token rejected")

// Workload is who a token speaks for.
type Workload struct {
	Namespace, ServiceAccount, AccountUID string
	Pod, PodUID                           string
	Expires                               time.Time
}

// Account returns "NAMESPACE/NAME" of the service account.
func (w Workload) Account() string { return w.Namespace + "/" + w.ServiceAccount }

// Verifier takes the tokens of one issuer for one audience. It keeps no keys: a key
// that the issuer no longer shows is no longer good.
type Verifier struct {
	Issuer   string
	Audience string
	// Client trusts the issuer's certificate.
	Client *http.Client
}

// claims are those of Kubernetes that say whose the token is.
type claims struct {
	jwt.Claims
	Kubernetes struct {
		Namespace      string    `json:"namespace"`
		ServiceAccount reference `json:"serviceaccount"`
		Pod            reference `json:"pod"`
	} `json:"kubernetes.io"`
}

type reference struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// Verify returns the workload of a token. The error is ErrRejected with the rule, or
// says why the issuer's keys cannot be had; it never holds the token.
func (v Verifier) Verify(ctx context.Context, token string) (Workload, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.RS256})
	if err != nil {
		return Workload{}, fmt.Errorf("%w: not a signed token", ErrRejected)
	}
	keys, err := v.keys(ctx)
	if err != nil {
		return Workload{}, fmt.Errorf("keys of %s: %w", v.Issuer, err)
	}
	var c claims
	if err := parsed.Claims(keys, &c); err != nil {
		return Workload{}, fmt.Errorf("%w: not signed by %s", ErrRejected, v.Issuer)
	}
	expected := jwt.Expected{Issuer: v.Issuer, AnyAudience: jwt.Audience{v.Audience}, Time: time.Now()}
	if err := c.ValidateWithLeeway(expected, 0); err != nil {
		return Workload{}, fmt.Errorf("%w: %w", ErrRejected, err)
	}
	if c.Expiry == nil {
		return Workload{}, fmt.Errorf("%w: it never expires", ErrRejected)
	}
	return c.workload()
}

func (c claims) workload() (Workload, error) {
	k := c.Kubernetes
	if k.Pod.Name == "" || k.Pod.UID == "" {
		return Workload{}, fmt.Errorf("%w: it is not bound to a pod", ErrRejected)
	}
	if k.Namespace == "" || k.ServiceAccount.Name == "" || k.ServiceAccount.UID == "" {
		return Workload{}, fmt.Errorf("%w: it names no service account", ErrRejected)
	}
	return Workload{
		Namespace: k.Namespace, ServiceAccount: k.ServiceAccount.Name, AccountUID: k.ServiceAccount.UID,
		Pod: k.Pod.Name, PodUID: k.Pod.UID, Expires: c.Expiry.Time(),
	}, nil
}
