package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// Objects finds the UIDs of what tokens are bound to. Each errs when there is no such object, or when it is dying.
type Objects interface {
	ServiceAccountUID(ctx context.Context, namespace, name string) (types.UID, error)
	PodUID(ctx context.Context, namespace, name string) (types.UID, error)
	SecretUID(ctx context.Context, namespace, name string) (types.UID, error)
	NodeUID(ctx context.Context, name string) (types.UID, error)
}

// Authenticator checks tokens of one Issuer. It implements authenticator.Token.
type Authenticator struct {
	// Issuer is whose tokens are accepted.
	Issuer *Issuer
	// Audiences are this server's own, for callers that ask for none.
	Audiences authenticator.Audiences
	// Objects says what lives.
	Objects Objects
}

var _ authenticator.Token = (*Authenticator)(nil)

// AuthenticateToken implements authenticator.Token. A token of another issuer is not ours to judge: false without
// error. One of ours errs when it is expired, meant for another audience, or bound to what is gone.
func (a *Authenticator) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		return nil, false, nil
	}
	var c claims
	if parsed.UnsafeClaimsWithoutVerification(&c) != nil || c.Issuer != a.Issuer.url {
		return nil, false, nil
	}
	c = claims{}
	if err := parsed.Claims(a.Issuer.key.Key, &c); err != nil {
		return nil, false, errors.New("service account token: the signature does not fit")
	}
	if err := c.ValidateWithLeeway(jwt.Expected{Issuer: a.Issuer.url, Time: time.Now()}, 0); err != nil {
		return nil, false, fmt.Errorf("service account token: %w", err)
	}
	audiences, err := a.audiences(ctx, authenticator.Audiences(c.Audience))
	if err != nil {
		return nil, false, err
	}
	if err := a.alive(ctx, c.Private); err != nil {
		return nil, false, err
	}
	return &authenticator.Response{Audiences: audiences, User: account(c).UserInfo()}, true, nil
}

// audiences returns those of the token's that were asked for.
func (a *Authenticator) audiences(ctx context.Context, token authenticator.Audiences) (authenticator.Audiences, error) {
	wanted, ok := authenticator.AudiencesFrom(ctx)
	if !ok {
		wanted = a.Audiences
	}
	common := token.Intersect(wanted)
	if len(common) == 0 {
		return nil, fmt.Errorf("service account token: audiences %q are none of %q", token, wanted)
	}
	return common, nil
}

// alive checks that everything the token is bound to is there and the same.
func (a *Authenticator) alive(ctx context.Context, p private) error {
	uid, err := a.Objects.ServiceAccountUID(ctx, p.Namespace, p.ServiceAccount.Name)
	if err := p.ServiceAccount.is(uid, err, "service account"); err != nil {
		return err
	}
	if p.Pod != nil {
		uid, err := a.Objects.PodUID(ctx, p.Namespace, p.Pod.Name)
		if err := p.Pod.is(uid, err, "pod"); err != nil {
			return err
		}
	}
	if p.Secret != nil {
		uid, err := a.Objects.SecretUID(ctx, p.Namespace, p.Secret.Name)
		if err := p.Secret.is(uid, err, "secret"); err != nil {
			return err
		}
	}
	return a.onNode(ctx, p)
}

// onNode checks the node of a token that is bound to the node alone; that of a pod's token only tells where the pod is.
func (a *Authenticator) onNode(ctx context.Context, p private) error {
	if p.Node == nil || p.Pod != nil {
		return nil
	}
	uid, err := a.Objects.NodeUID(ctx, p.Node.Name)
	return p.Node.is(uid, err, "node")
}

func (r reference) is(uid types.UID, err error, kind string) error {
	if err != nil {
		return fmt.Errorf("service account token: %s %q: %w", kind, r.Name, err)
	}
	if uid != r.UID {
		return fmt.Errorf("service account token: %s %q is another one now", kind, r.Name)
	}
	return nil
}

// account turns checked claims into what the rest of the server knows of a user.
func account(c claims) *serviceaccount.ServiceAccountInfo {
	info := &serviceaccount.ServiceAccountInfo{
		Namespace: c.Private.Namespace,
		Name:      c.Private.ServiceAccount.Name,
		UID:       string(c.Private.ServiceAccount.UID),
	}
	if c.ID != "" {
		info.CredentialID = "JTI=" + c.ID
	}
	if p := c.Private.Pod; p != nil {
		info.PodName, info.PodUID = p.Name, string(p.UID)
	}
	if n := c.Private.Node; n != nil {
		info.NodeName, info.NodeUID = n.Name, string(n.UID)
	}
	return info
}
