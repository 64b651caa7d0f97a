package credprovider

import (
	"encoding/json"
	"errors"
	"fmt"
)

// wireRequest is a Request as it travels. Its secrets are plain, so it never leaves this file.
type wireRequest struct {
	Kind        string            `json:"kind,omitempty"`
	APIVersion  string            `json:"apiVersion,omitempty"`
	Image       string            `json:"image"`
	Token       string            `json:"serviceAccountToken,omitempty"`
	Annotations map[string]string `json:"serviceAccountAnnotations,omitempty"`
}

// wireResponse is a Response as it travels.
type wireResponse struct {
	Kind          string              `json:"kind,omitempty"`
	APIVersion    string              `json:"apiVersion,omitempty"`
	CacheKeyType  CacheKeyType        `json:"cacheKeyType"`
	CacheDuration *Duration           `json:"cacheDuration,omitempty"`
	Auth          map[string]wireAuth `json:"auth,omitempty"`
}

type wireAuth struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// ErrVersion is the condition of a message in another version than was asked for, or than there is.
var ErrVersion = errors.New("protocol version")

// EncodeRequest returns the request as a plugin reads it: one line of JSON with kind and apiVersion first, byte for
// byte as upstream writes it. It is a secret when there is a token.
//
// An unknown version, and a token or annotations with a version that has no place for them, are ErrVersion.
func EncodeRequest(r Request) ([]byte, error) {
	if !isVersion(r.APIVersion) {
		return nil, fmt.Errorf("%w: %q is not known", ErrVersion, r.APIVersion)
	}
	if r.APIVersion != V1 && (!r.ServiceAccountToken.IsEmpty() || len(r.ServiceAccountAnnotations) > 0) {
		return nil, fmt.Errorf("%w: %q carries no service account", ErrVersion, r.APIVersion)
	}
	return line(wireRequest{
		Kind: RequestKind, APIVersion: r.APIVersion, Image: r.Image,
		Token: r.ServiceAccountToken.Reveal(), Annotations: r.ServiceAccountAnnotations,
	})
}

// EncodeResponse returns the response as a plugin writes it: one line of JSON. It is a secret. An unknown version is
// ErrVersion, an unknown cache key type ErrCacheKeyType.
func EncodeResponse(r Response) ([]byte, error) {
	if !isVersion(r.APIVersion) {
		return nil, fmt.Errorf("%w: %q is not known", ErrVersion, r.APIVersion)
	}
	if _, err := BaseKey(r.CacheKeyType, ""); err != nil {
		return nil, err
	}
	wire := wireResponse{Kind: ResponseKind, APIVersion: r.APIVersion, CacheKeyType: r.CacheKeyType, CacheDuration: r.CacheDuration}
	if len(r.Auth) > 0 {
		wire.Auth = make(map[string]wireAuth, len(r.Auth))
	}
	for pattern, auth := range r.Auth {
		wire.Auth[pattern] = wireAuth{Username: auth.Username, Password: auth.Password.Reveal()}
	}
	return line(wire)
}

func line(message any) ([]byte, error) {
	data, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

func isVersion(s string) bool { return s == V1 || s == V1beta1 || s == V1alpha1 }
