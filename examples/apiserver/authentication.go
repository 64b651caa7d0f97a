package apiserver

import (
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/lanyard-dev/lanyard/examples/apiserver/tokens"
)

// authentication says who somebody is.
type authentication struct {
	// requests authenticates requests, and the tokens of reviews.
	requests  authenticator.Request
	clientCA  dynamiccertificates.CAContentProvider
	audiences authenticator.Audiences
}

// setAuthentication accepts client certificates, static tokens and service account tokens, in this order.
func (p *parts) setAuthentication() error {
	audiences := authenticator.Audiences(p.options.Audiences)
	clientCA, err := dynamiccertificates.NewStaticCAContent("client-ca", p.options.ClientCA)
	if err != nil {
		return err
	}
	bearer, err := p.bearer(audiences)
	if err != nil {
		return err
	}
	certificates := x509.NewDynamic(clientCA.VerifyOptions, x509.CommonNameUserConversion)
	requests := group.NewAuthenticatedGroupAdder(union.New(
		authenticator.WrapAudienceAgnosticRequest(audiences, certificates),
		bearertoken.New(bearer),
		websocket.NewProtocolAuthenticator(bearer),
	))
	if p.options.Anonymous {
		requests = union.NewFailOnError(requests, anonymous.NewAuthenticator(nil))
	}
	p.authn = authentication{requests: requests, clientCA: clientCA, audiences: audiences}
	return nil
}

func (p *parts) bearer(audiences authenticator.Audiences) (authenticator.Token, error) {
	accounts := &tokens.Authenticator{Issuer: p.issuer, Audiences: audiences, Objects: tokens.Stored{Registry: p.registry}}
	if p.options.TokenFile == "" {
		return accounts, nil
	}
	static, err := tokenfile.NewCSV(p.options.TokenFile)
	if err != nil {
		return nil, err
	}
	return tokenunion.New(authenticator.WrapAudienceAgnosticToken(audiences, static), accounts), nil
}
