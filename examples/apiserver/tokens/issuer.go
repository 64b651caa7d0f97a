package tokens

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// algorithm is the one that tokens are signed with and the only one that is accepted.
const algorithm = jose.ES256

// Issuer signs tokens. It is safe for concurrent use.
type Issuer struct {
	url    string
	key    jose.JSONWebKey
	signer jose.Signer
}

// NewKey returns a new P-256 key, the kind that NewIssuer takes.
func NewKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// NewIssuer returns an Issuer that signs with key, a P-256 key, as url, the value of the iss claim.
func NewIssuer(url string, key *ecdsa.PrivateKey) (*Issuer, error) {
	id, err := keyID(key)
	if err != nil {
		return nil, err
	}
	jwk := jose.JSONWebKey{Key: key.Public(), KeyID: id, Algorithm: string(algorithm), Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	if err != nil {
		return nil, fmt.Errorf("service account key: %w", err)
	}
	return &Issuer{url: url, key: jwk, signer: signer}, nil
}

// keyID names a key by the hash of its public half.
func keyID(key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", fmt.Errorf("service account key: %w", err)
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// URL returns the value of the iss claim.
func (i *Issuer) URL() string { return i.url }

// sign returns the compact form of a token with the claims.
func (i *Issuer) sign(c claims) (string, error) {
	return jwt.Signed(i.signer).Claims(c).Serialize()
}
