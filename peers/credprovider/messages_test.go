package credprovider_test

import (
	"encoding/json"
	"testing"
	"time"

	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/kubelet/pkg/apis/credentialprovider/v1"
	"k8s.io/kubelet/pkg/apis/credentialprovider/v1alpha1"
	"k8s.io/kubelet/pkg/apis/credentialprovider/v1beta1"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

var text = rapid.StringMatching(`[ -~é<>&\n]{0,10}`)

func TestRequests(t *testing.T) {
	t.Run("CRP-5 CRP-6 v1 requests are upstream's bytes", rapid.MakeCheck(func(t *rapid.T) {
		theirs := upstream.CredentialProviderRequest{
			TypeMeta: v1.TypeMeta{Kind: "CredentialProviderRequest", APIVersion: upstream.SchemeGroupVersion.String()},
			Image:    text.Draw(t, "image"), ServiceAccountToken: text.Draw(t, "token"),
			ServiceAccountAnnotations: rapid.MapOfN(text, text, 0, 3).Draw(t, "annotations"),
		}
		want, err := json.Marshal(theirs)
		if err != nil {
			t.Fatal(err)
		}
		got, err := credprovider.EncodeRequest(credprovider.Request{
			APIVersion: credprovider.V1, Image: theirs.Image, ServiceAccountToken: redact.New(theirs.ServiceAccountToken), ServiceAccountAnnotations: theirs.ServiceAccountAnnotations,
		})
		if err != nil || string(got) != string(want)+"\n" {
			t.Fatalf("EncodeRequest = %q, %v, want %q", got, err, want)
		}
		back, err := credprovider.DecodeRequest(want)
		if err != nil || back.Image != theirs.Image || back.ServiceAccountToken.Reveal() != theirs.ServiceAccountToken || len(back.ServiceAccountAnnotations) != len(theirs.ServiceAccountAnnotations) {
			t.Fatalf("DecodeRequest(%q) = %+v, %v", want, back, err)
		}
	}))
	t.Run("CRP-5 older requests are upstream's bytes", func(t *testing.T) {
		beta, _ := json.Marshal(v1beta1.CredentialProviderRequest{TypeMeta: v1.TypeMeta{Kind: credprovider.RequestKind, APIVersion: credprovider.V1beta1}, Image: "a.io/b"})
		alpha, _ := json.Marshal(v1alpha1.CredentialProviderRequest{TypeMeta: v1.TypeMeta{Kind: credprovider.RequestKind, APIVersion: credprovider.V1alpha1}, Image: "a.io/b"})
		for version, want := range map[string][]byte{credprovider.V1beta1: beta, credprovider.V1alpha1: alpha} {
			got, err := credprovider.EncodeRequest(credprovider.Request{APIVersion: version, Image: "a.io/b"})
			if err != nil || string(got) != string(want)+"\n" {
				t.Errorf("EncodeRequest = %q, %v, want %q", got, err, want)
			}
		}
	})
}

func TestResponses(t *testing.T) {
	t.Run("CRP-5 responses are upstream's bytes, both ways", rapid.MakeCheck(func(t *rapid.T) {
		theirs := upstream.CredentialProviderResponse{
			TypeMeta:     v1.TypeMeta{Kind: "CredentialProviderResponse", APIVersion: upstream.SchemeGroupVersion.String()},
			CacheKeyType: rapid.SampledFrom([]upstream.PluginCacheKeyType{upstream.ImagePluginCacheKeyType, upstream.RegistryPluginCacheKeyType, upstream.GlobalPluginCacheKeyType}).Draw(t, "type"),
		}
		if rapid.Bool().Draw(t, "has duration") {
			theirs.CacheDuration = &v1.Duration{Duration: time.Duration(rapid.Int64().Draw(t, "duration"))}
		}
		for _, key := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, "keys") {
			if theirs.Auth == nil {
				theirs.Auth = map[string]upstream.AuthConfig{}
			}
			theirs.Auth[key] = upstream.AuthConfig{Username: text.Draw(t, "user"), Password: text.Draw(t, "password")}
		}
		want, err := json.Marshal(theirs)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := credprovider.DecodeResponse(want, credprovider.V1)
		if err != nil {
			t.Fatalf("DecodeResponse(%q) = %v", want, err)
		}
		if got, err := credprovider.EncodeResponse(ours); err != nil || string(got) != string(want)+"\n" {
			t.Fatalf("EncodeResponse = %q, %v, want %q", got, err, want)
		}
	}))
}
