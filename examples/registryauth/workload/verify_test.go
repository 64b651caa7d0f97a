package workload_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/lanyard-dev/lanyard/examples/registryauth/workload"
)

// issuer is one that shows its keys.
type issuer struct {
	url string
	key *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{key: newKey(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.url, "jwks_uri": i.url + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: "k", Algorithm: "ES256"}}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

// sign returns a token with the claims; a nil value takes a claim out.
func (i *issuer) sign(t *testing.T, key *ecdsa.PrivateKey, change map[string]any) string {
	t.Helper()
	claims := map[string]any{
		"iss": i.url, "aud": []string{"registry"}, "exp": time.Now().Add(time.Hour).Unix(),
		"kubernetes.io": map[string]any{
			"namespace": "team", "serviceaccount": map[string]string{"name": "app", "uid": "u1"},
			"pod": map[string]string{"name": "app-1", "uid": "u2"},
		},
	}
	for name, value := range change {
		claims[name] = value
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestVerify(t *testing.T) {
	i := newIssuer(t)
	v := workload.Verifier{Issuer: i.url, Audience: "registry", Client: http.DefaultClient}
	t.Run("CRP-25 a token for this registry is its pod's", func(t *testing.T) {
		w, err := v.Verify(t.Context(), i.sign(t, i.key, nil))
		if err != nil || w.Account() != "team/app" || w.AccountUID != "u1" || w.Pod != "app-1" || w.PodUID != "u2" {
			t.Errorf("Verify = %+v, %v", w, err)
		}
	})
	unbound := map[string]any{"namespace": "team", "serviceaccount": map[string]string{"name": "app", "uid": "u1"}}
	for _, c := range []struct {
		name, token string
	}{
		{"another audience", i.sign(t, i.key, map[string]any{"aud": []string{"vault"}})},
		{"no audience", i.sign(t, i.key, map[string]any{"aud": nil})},
		{"another issuer", i.sign(t, i.key, map[string]any{"iss": "https://elsewhere"})},
		{"expired", i.sign(t, i.key, map[string]any{"exp": time.Now().Add(-time.Second).Unix()})},
		{"without an end", i.sign(t, i.key, map[string]any{"exp": nil})},
		{"another key", i.sign(t, newKey(t), nil)},
		{"not bound to a pod", i.sign(t, i.key, map[string]any{"kubernetes.io": unbound})},
		{"no token at all", "eyJhbGciOiJub25lIn0.e30."},
	} {
		t.Run("CRP-25 CRP-22 rejected: "+c.name, func(t *testing.T) {
			w, err := v.Verify(t.Context(), c.token)
			if !errors.Is(err, workload.ErrRejected) || w != (workload.Workload{}) {
				t.Fatalf("Verify = %+v, %v, want ErrRejected", w, err)
			}
			if strings.Contains(err.Error(), c.token) {
				t.Error("the error holds the token")
			}
		})
	}
}
