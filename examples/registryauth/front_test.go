package registryauth_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/lanyard-dev/lanyard/examples/registryauth"
	"github.com/lanyard-dev/lanyard/examples/registryauth/workload"
)

// cluster is an issuer without a network: its transport answers what the API server would.
type cluster struct{ key *ecdsa.PrivateKey }

const issuer = "https://cluster.example.io"

func (c cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	var document any = map[string]string{"issuer": issuer, "jwks_uri": issuer + "/keys"}
	if r.URL.Path == "/keys" {
		document = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: c.key.Public(), KeyID: "k", Algorithm: "ES256"}}}
	}
	text, err := json.Marshal(document)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(text))}, err
}

func (c cluster) token(t *testing.T, account string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: c.key, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(map[string]any{
		"iss": issuer, "aud": "registry", "exp": time.Now().Add(time.Hour).Unix(),
		"kubernetes.io": map[string]any{
			"namespace": "team", "serviceaccount": map[string]string{"name": account, "uid": "u"}, "pod": map[string]string{"name": "p", "uid": "v"},
		},
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func newFront(t *testing.T) (*registryauth.Front, cluster) {
	t.Helper()
	return newFrontAt(t, nil)
}

func newFrontAt(t *testing.T, now func() time.Time) (*registryauth.Front, cluster) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{key}
	return registryauth.New(registryauth.Options{
		Registry: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
		Verifier: workload.Verifier{Issuer: issuer, Audience: "registry", Client: &http.Client{Transport: c}},
		Grants:   map[string][]string{"team/app": {"team/app"}},
		Node:     registryauth.Login{Username: "node", Password: "n", Repositories: []string{"shared"}},
		Now:      now,
	}), c
}

// send returns the status of a request; the registry behind the front says 418.
func send(f *registryauth.Front, method, path, user, password string) int {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	f.ServeHTTP(w, r)
	return w.Code
}

func exchange(t *testing.T, f *registryauth.Front, token, repository string) (registryauth.Response, int) {
	t.Helper()
	body, err := json.Marshal(registryauth.Request{Token: token, Repository: repository})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/exchange", bytes.NewReader(body)))
	var out registryauth.Response
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
	}
	return out, w.Code
}

func TestFront(t *testing.T) {
	f, c := newFront(t)
	mine, code := exchange(t, f, c.token(t, "app"), "team/app")
	if code != http.StatusOK {
		t.Fatalf("exchange: HTTP %d", code)
	}
	for _, row := range []struct {
		name, method, path, user, password string
		want                               int
	}{
		{"nobody", "GET", "/v2/", "", "", 401},
		{"nobody, a manifest", "GET", "/v2/team/app/manifests/v1", "", "", 401},
		{"a wrong password", "GET", "/v2/team/app/manifests/v1", "team/app", "guess", 401},
		{"another user's password", "GET", "/v2/team/app/manifests/v1", "team/other", mine.Password, 401},
		{"its own password, a manifest", "GET", "/v2/team/app/manifests/v1", "team/app", mine.Password, 418},
		{"its own password, a layer", "GET", "/v2/team/app/blobs/sha256:0", "team/app", mine.Password, 418},
		{"another repository", "GET", "/v2/team/other/manifests/v1", "team/app", mine.Password, 403},
		{"a repository below", "GET", "/v2/team/app/sub/manifests/v1", "team/app", mine.Password, 403},
		{"a push", "PUT", "/v2/team/app/manifests/v1", "team/app", mine.Password, 403},
		{"the catalogue", "GET", "/v2/_catalog", "team/app", mine.Password, 403},
		{"the node, shared", "GET", "/v2/shared/manifests/v1", "node", "n", 418},
		{"the node, a team's", "GET", "/v2/team/app/manifests/v1", "node", "n", 403},
		{"the node, a wrong password", "GET", "/v2/shared/manifests/v1", "node", "m", 401},
	} {
		t.Run("CRP-25 "+row.name, func(t *testing.T) {
			if got := send(f, row.method, row.path, row.user, row.password); got != row.want {
				t.Errorf("HTTP %d, want %d", got, row.want)
			}
		})
	}
	t.Run("CRP-25 no password for another's repository, nor for no token", func(t *testing.T) {
		if _, code := exchange(t, f, c.token(t, "app"), "team/other"); code != http.StatusForbidden {
			t.Errorf("another's: HTTP %d", code)
		}
		if _, code := exchange(t, f, "", "team/app"); code != http.StatusUnauthorized {
			t.Errorf("no token: HTTP %d", code)
		}
	})
}

func TestPasswordsEnd(t *testing.T) {
	now := time.Now()
	f, c := newFrontAt(t, func() time.Time { return now })
	mine, _ := exchange(t, f, c.token(t, "app"), "team/app")
	pull := func() int { return send(f, "GET", "/v2/team/app/manifests/v1", "team/app", mine.Password) }
	now = now.Add(registryauth.DefaultLifetime)
	if got := pull(); got != http.StatusTeapot {
		t.Errorf("a password within its time: HTTP %d, want the registry's 418", got)
	}
	now = now.Add(time.Nanosecond)
	if got := pull(); got != http.StatusUnauthorized {
		t.Errorf("a password past its time: HTTP %d, want 401", got)
	}
}
