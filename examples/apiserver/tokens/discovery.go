package tokens

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	// DiscoveryPath is where the OpenID provider configuration is.
	DiscoveryPath = "/.well-known/openid-configuration"
	// KeysPath is where the JSON web key set is.
	KeysPath = "/openid/v1/jwks"
)

// Mux is where handlers are added.
type Mux interface {
	Handle(path string, handler http.Handler)
}

// Install adds the discovery document and the key set. serverURL is where this server is reached.
func (i *Issuer) Install(mux Mux, serverURL string) error {
	document, err := json.Marshal(map[string]any{
		"issuer":                                i.url,
		"jwks_uri":                              strings.TrimSuffix(serverURL, "/") + KeysPath,
		"response_types_supported":              []string{"id_token"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{string(algorithm)},
	})
	if err != nil {
		return err
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key}})
	if err != nil {
		return err
	}
	mux.Handle(DiscoveryPath, static("application/json", document))
	mux.Handle(KeysPath, static("application/jwk-set+json", keys))
	return nil
}

func static(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(body) // the client is gone when this errs
	})
}
