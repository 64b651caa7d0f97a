package credprovider

import (
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// RequestKind and ResponseKind are the kinds of the two messages of the protocol.
const (
	RequestKind  = "CredentialProviderRequest"
	ResponseKind = "CredentialProviderResponse"
)

// Request is what a plugin reads: the image, and with KEP-4412 the workload's identity.
type Request struct {
	// APIVersion is the version of the protocol: V1, V1beta1 or V1alpha1.
	APIVersion string `json:"apiVersion"`
	// Image is the normalised repository, without tag and digest.
	Image string `json:"image"`
	// ServiceAccountToken is a token bound to the pod, with the audience of the configuration. Only in V1.
	ServiceAccountToken redact.Text `json:"serviceAccountToken,omitzero"`
	// ServiceAccountAnnotations are the configured annotations that the service account has. Only in V1.
	ServiceAccountAnnotations map[string]string `json:"serviceAccountAnnotations,omitempty"`
}

// Response is what a plugin answers.
type Response struct {
	// APIVersion must be that of the request.
	APIVersion string `json:"apiVersion"`
	// CacheKeyType says for which images the answer is good.
	CacheKeyType CacheKeyType `json:"cacheKeyType"`
	// CacheDuration is how long it is good: nil is the configured default, zero is for this pull only.
	CacheDuration *Duration `json:"cacheDuration,omitempty"`
	// Auth holds credentials by the pattern of the images they are for. Empty is a valid answer: no credentials.
	Auth map[string]AuthConfig `json:"auth,omitempty"`
}

// Holds reports whether the token is in a pattern, a user name or a password of the answer, or is one. An empty token
// is in none. A token that was encoded is not recognised.
func (r Response) Holds(token redact.Text) bool {
	if token.IsEmpty() {
		return false
	}
	for pattern, auth := range r.Auth {
		for _, text := range []string{pattern, auth.Username, auth.Password.Reveal()} {
			if strings.Contains(text, token.Reveal()) {
				return true
			}
		}
	}
	return false
}

// AuthConfig is a user name and a password for a registry. Both may be empty.
type AuthConfig struct {
	Username string      `json:"username"`
	Password redact.Text `json:"password"`
}
