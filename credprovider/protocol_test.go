package credprovider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/internal/testprint"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestEncodeRequest(t *testing.T) {
	full := credprovider.Request{
		APIVersion: credprovider.V1, Image: "test.registry.io/foobar",
		ServiceAccountToken: redact.New("tok<en"), ServiceAccountAnnotations: map[string]string{"domain.io/annotation1": "value1"},
	}
	const head = `{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/`
	cases := map[string]struct {
		request credprovider.Request
		want    string
	}{
		"CRP-5 image only":      {credprovider.Request{APIVersion: credprovider.V1, Image: "a.io/b"}, head + `v1","image":"a.io/b"}` + "\n"},
		"CRP-5 v1beta1":         {credprovider.Request{APIVersion: credprovider.V1beta1, Image: "a.io/b"}, head + `v1beta1","image":"a.io/b"}` + "\n"},
		"CRP-6 with an account": {full, head + `v1","image":"test.registry.io/foobar","serviceAccountToken":"tok\u003cen","serviceAccountAnnotations":{"domain.io/annotation1":"value1"}}` + "\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := credprovider.EncodeRequest(c.request)
			if string(got) != c.want || err != nil {
				t.Errorf("EncodeRequest = %q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("CRP-3 no account in an older version", func(t *testing.T) {
		old := full
		old.APIVersion = credprovider.V1alpha1
		if _, err := credprovider.EncodeRequest(old); !errors.Is(err, credprovider.ErrVersion) {
			t.Errorf("EncodeRequest = %v, want ErrVersion", err)
		}
	})
	t.Run("CRP-5 unknown version", func(t *testing.T) {
		if _, err := credprovider.EncodeRequest(credprovider.Request{APIVersion: "v9"}); !errors.Is(err, credprovider.ErrVersion) {
			t.Errorf("EncodeRequest = %v, want ErrVersion", err)
		}
	})
}

const responseHead = `{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry"`

func badResponses() map[string]string {
	return map[string]string{
		"empty":             "",
		"yaml":              "kind: CredentialProviderResponse\napiVersion: " + credprovider.V1 + "\n",
		"log line before":   "starting\n" + responseHead + "}",
		"text after":        responseHead + "} done",
		"two objects":       responseHead + "}" + responseHead + "}",
		"cut short":         responseHead + `,"auth":{"a":{"user`,
		"unknown field":     responseHead + `,"foo":1}`,
		"wrong case":        responseHead + `,"Auth":{}}`,
		"duplicate field":   responseHead + `,"auth":{},"auth":{}}`,
		"extra in an entry": responseHead + `,"auth":{"a":{"username":"u","password":"p","email":"e"}}}`,
		"number duration":   responseHead + `,"cacheDuration":0}`,
		"empty duration":    responseHead + `,"cacheDuration":""}`,
		"bare duration":     responseHead + `,"cacheDuration":"5"}`,
		"days":              responseHead + `,"cacheDuration":"1d"}`,
		"other kind":        strings.Replace(responseHead, "ProviderResponse", "ProviderRequest", 1) + "}",
		"array":             "[]",
		"null":              "null",
	}
}

func TestDecodeResponse(t *testing.T) {
	for name, data := range badResponses() {
		t.Run("CRP-5 refused: "+name, func(t *testing.T) {
			got, err := credprovider.DecodeResponse([]byte(data), credprovider.V1)
			var message *credprovider.MessageError
			if !errors.As(err, &message) {
				t.Fatalf("DecodeResponse(%q) = %+v, %v, want a *MessageError", data, got, err)
			}
			for _, part := range []string{"foo", "user", "starting", "done", "email"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("error %q shows the answer", err)
				}
			}
		})
	}
	t.Run("CRP-5 another version", func(t *testing.T) {
		_, err := credprovider.DecodeResponse([]byte(responseHead+`}`), credprovider.V1beta1)
		if !errors.Is(err, credprovider.ErrVersion) {
			t.Errorf("DecodeResponse = %v, want ErrVersion", err)
		}
	})
	t.Run("CRP-10 cacheKeyType must be one of three", func(t *testing.T) {
		for _, keyType := range []string{"", "ServiceAccount", "image", "hunter2"} {
			_, err := credprovider.DecodeResponse([]byte(strings.Replace(responseHead, "Registry", keyType, 1)+`}`), credprovider.V1)
			if !errors.Is(err, credprovider.ErrCacheKeyType) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("DecodeResponse(%q) = %v, want ErrCacheKeyType", keyType, err)
			}
		}
	})
	for text, want := range map[string]*credprovider.Duration{
		`"0"`: credprovider.NewDuration(0), `"0s"`: credprovider.NewDuration(0), `null`: nil, `"-1m"`: credprovider.NewDuration(-time.Minute), `"6h0m0s"`: credprovider.NewDuration(6 * time.Hour),
	} {
		t.Run("CRP-13 cacheDuration "+text, func(t *testing.T) {
			got, err := credprovider.DecodeResponse([]byte(responseHead+`,"cacheDuration":`+text+"}\n\n"), credprovider.V1)
			if err != nil || (got.CacheDuration == nil) != (want == nil) || want != nil && *got.CacheDuration != *want {
				t.Errorf("DecodeResponse = %v, %v, want %v", got.CacheDuration, err, want)
			}
		})
	}
	t.Run("CRP-17 no credentials is an answer", func(t *testing.T) {
		for _, auth := range []string{"", `,"auth":null`, `,"auth":{}`} {
			if got, err := credprovider.DecodeResponse([]byte(responseHead+auth+"}"), credprovider.V1); err != nil || got.Auth != nil {
				t.Errorf("DecodeResponse(%q) = %+v, %v", auth, got, err)
			}
		}
	})
}

func TestDecodeRequest(t *testing.T) {
	t.Run("CRP-24 unknown fields of a newer kubelet are let pass", func(t *testing.T) {
		got, err := credprovider.DecodeRequest([]byte(`{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"a.io/b","podName":"x"}`))
		if err != nil || got.Image != "a.io/b" {
			t.Errorf("DecodeRequest = %+v, %v", got, err)
		}
	})
	t.Run("CRP-24 an older version carries no token", func(t *testing.T) {
		got, err := credprovider.DecodeRequest([]byte(`{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1beta1","image":"a","serviceAccountToken":"t"}`))
		if err != nil || !got.ServiceAccountToken.IsEmpty() {
			t.Errorf("DecodeRequest = %+v, %v, want no token", got, err)
		}
	})
	for name, data := range map[string]string{
		"kind": `{"kind":"X","apiVersion":"credentialprovider.kubelet.k8s.io/v1"}`, "version": `{"kind":"CredentialProviderRequest","apiVersion":"v2"}`,
		"syntax": `{"image":`, "type": `{"image":1}`,
	} {
		t.Run("CRP-24 refused: "+name, func(t *testing.T) {
			if _, err := credprovider.DecodeRequest([]byte(data)); err == nil {
				t.Errorf("DecodeRequest(%q) = nil error", data)
			}
		})
	}
}

func TestProtocolRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[ -~é]{0,8}`)
	t.Run("CRP-5 requests", rapid.MakeCheck(func(t *rapid.T) {
		want := credprovider.Request{APIVersion: credprovider.V1, Image: text.Draw(t, "image"), ServiceAccountToken: redact.New(text.Draw(t, "token")), ServiceAccountAnnotations: rapid.MapOfN(text, text, 1, 3).Draw(t, "annotations")}
		data, err := credprovider.EncodeRequest(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := credprovider.DecodeRequest(data)
		if err != nil || got.Image != want.Image || !got.ServiceAccountToken.Equal(want.ServiceAccountToken) || !maps.Equal(got.ServiceAccountAnnotations, want.ServiceAccountAnnotations) {
			t.Fatalf("round trip of %q = %+v, %v", data, got, err)
		}
	}))
	t.Run("CRP-5 responses", rapid.MakeCheck(func(t *rapid.T) {
		want := credprovider.Response{APIVersion: credprovider.V1beta1, CacheKeyType: rapid.SampledFrom([]credprovider.CacheKeyType{credprovider.KeyImage, credprovider.KeyRegistry, credprovider.KeyGlobal}).Draw(t, "key"), Auth: map[string]credprovider.AuthConfig{}}
		if rapid.Bool().Draw(t, "has duration") {
			want.CacheDuration = credprovider.NewDuration(time.Duration(rapid.Int64().Draw(t, "duration")))
		}
		for _, key := range rapid.SliceOfNDistinct(text, 1, 3, rapid.ID[string]).Draw(t, "keys") {
			want.Auth[key] = credprovider.AuthConfig{Username: text.Draw(t, "user"), Password: redact.New(text.Draw(t, "password"))}
		}
		data, err := credprovider.EncodeResponse(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := credprovider.DecodeResponse(data, credprovider.V1beta1)
		if err != nil || got.CacheKeyType != want.CacheKeyType || len(got.Auth) != len(want.Auth) || (got.CacheDuration == nil) != (want.CacheDuration == nil) {
			t.Fatalf("round trip of %q = %+v, %v", data, got, err)
		}
		if got.CacheDuration != nil && *got.CacheDuration != *want.CacheDuration {
			t.Fatalf("duration %v, want %v", *got.CacheDuration, *want.CacheDuration)
		}
		for key, auth := range want.Auth {
			if got.Auth[key].Username != auth.Username || !got.Auth[key].Password.Equal(auth.Password) {
				t.Fatalf("auth[%q] of %q differs", key, data)
			}
		}
	}))
}

func TestNothingIsShown(t *testing.T) {
	const secret = "hunter2-4711"
	s := redact.New(secret)
	account := &credprovider.AccountRef{Name: "sa"}
	env := credprovider.EnvVar{Name: "TOKEN", Value: s}
	one := credprovider.Provider{Args: redact.Texts("--password", secret), Env: []credprovider.EnvVar{env}}
	for _, value := range []any{
		credprovider.Request{ServiceAccountToken: s},
		credprovider.Response{Auth: map[string]credprovider.AuthConfig{"a": {Password: s}}},
		credprovider.AuthConfig{Password: s},
		credprovider.Credential{Password: s, Account: account},
		env,
		one,
		credprovider.Config{Providers: []credprovider.Provider{one}},
		credprovider.NewKeyring("p", account, map[string]credprovider.AuthConfig{"a.io": {Password: s}}),
		*credprovider.NewKeyring("p", account, map[string]credprovider.AuthConfig{"a.io": {Password: s}}),
		&credprovider.Request{ServiceAccountToken: s},
	} {
		t.Run(fmt.Sprintf("MOD-9 CRP-22 %T by fmt, JSON and slog", value), func(t *testing.T) {
			if text := testprint.Leaks(value, secret); text != "" {
				t.Errorf("the secret is in %s", text)
			}
		})
	}
	t.Run("MOD-9 the protocol's encoders write the secret, encoding/json does not", func(t *testing.T) {
		request := credprovider.Request{APIVersion: credprovider.V1, Image: "a.io/b", ServiceAccountToken: s}
		wire, err := credprovider.EncodeRequest(request)
		shown, jsonErr := json.Marshal(request)
		if err != nil || jsonErr != nil || !strings.Contains(string(wire), secret) || !strings.Contains(string(shown), `"serviceAccountToken":"[redacted]"`) {
			t.Errorf("EncodeRequest = %s, %v; json.Marshal = %s, %v", wire, err, shown, jsonErr)
		}
		response := credprovider.Response{APIVersion: credprovider.V1, CacheKeyType: credprovider.KeyImage, Auth: map[string]credprovider.AuthConfig{"a.io": {Password: s}}}
		wire, err = credprovider.EncodeResponse(response)
		shown, jsonErr = json.Marshal(response)
		if err != nil || jsonErr != nil || !strings.Contains(string(wire), secret) || !strings.Contains(string(shown), `"password":"[redacted]"`) {
			t.Errorf("EncodeResponse = %s, %v; json.Marshal = %s, %v", wire, err, shown, jsonErr)
		}
	})
}

func FuzzDecodeResponse(f *testing.F) {
	for _, data := range badResponses() {
		f.Add([]byte(data))
	}
	f.Add([]byte(responseHead + `,"cacheDuration":"1m","auth":{"a.io":{"username":"u","password":"p"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		response, err := credprovider.DecodeResponse(data, credprovider.V1)
		if err != nil {
			return
		}
		again, err := credprovider.EncodeResponse(response)
		if err != nil {
			t.Fatalf("EncodeResponse of what was decoded = %v", err)
		}
		if _, err := credprovider.DecodeResponse(again, credprovider.V1); err != nil {
			t.Fatalf("DecodeResponse(%q) = %v", again, err)
		}
	})
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"a.io/b","serviceAccountToken":"t"}`))
	f.Add([]byte(`{"kind":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		request, err := credprovider.DecodeRequest(data)
		if err != nil {
			return
		}
		if _, err := credprovider.EncodeRequest(request); err != nil {
			t.Fatalf("EncodeRequest of what was decoded = %v", err)
		}
	})
}
