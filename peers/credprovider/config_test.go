package credprovider_test

import (
	"encoding/json"
	"strings"
	"testing"

	upstream "k8s.io/kubelet/config/v1"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
)

const full = `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: one
  matchImages: ["*.reg.io", "reg.io:5000/team"]
  defaultCacheDuration: 10m30s
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  args: [get, "--flag"]
  env: [{name: A, value: "1"}, {name: B, value: ""}]
  tokenAttributes:
    serviceAccountTokenAudience: aud
    cacheType: Token
    requireServiceAccount: false
    optionalServiceAccountAnnotationKeys: [a/b]
- name: two
  matchImages: [x.io]
  defaultCacheDuration: 0s
  apiVersion: credentialprovider.kubelet.k8s.io/v1alpha1
  tokenAttributes: {serviceAccountTokenAudience: "", cacheType: "", requireServiceAccount: null, requiredServiceAccountAnnotationKeys: [c]}
- {name: three, matchImages: null, defaultCacheDuration: null, apiVersion: ""}
`

func TestConfiguration(t *testing.T) {
	var theirs upstream.CredentialProviderConfig
	if err := yaml.UnmarshalStrict([]byte(full), &theirs); err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	wantYAML, err := yaml.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	for form, source := range map[string]string{"YAML": full, "upstream's JSON": string(want), "upstream's YAML": string(wantYAML)} {
		t.Run("CRP-1 read from "+form, func(t *testing.T) {
			loaded, err := configfile.Read("", strings.NewReader(source))
			if err != nil {
				t.Fatal(err)
			}
			got, err := configfile.Encode(loaded.Config)
			if err != nil || string(got) != string(want)+"\n" {
				t.Errorf("JSON = %s, %v\nwant %s", got, err, want)
			}
			if got, err := yaml.JSONToYAML(got); err != nil || string(got) != string(wantYAML) {
				t.Errorf("YAML = %s, %v\nwant %s", got, err, wantYAML)
			}
		})
	}
	t.Run("CRP-1 ours is read by upstream", func(t *testing.T) {
		loaded, err := configfile.Read("", strings.NewReader(full))
		if err != nil {
			t.Fatal(err)
		}
		data, err := configfile.Encode(loaded.Config)
		if err != nil {
			t.Fatal(err)
		}
		var back upstream.CredentialProviderConfig
		if err := yaml.UnmarshalStrict(data, &back); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(back); string(got) != string(want) {
			t.Errorf("upstream reads %s, want %s", got, want)
		}
	})
	t.Run("CRP-26 the cache types are upstream's", func(t *testing.T) {
		if string(upstream.TokenServiceAccountTokenCacheType) != string(credprovider.CacheByToken) || string(upstream.ServiceAccountServiceAccountTokenCacheType) != string(credprovider.CacheByServiceAccount) {
			t.Error("they differ")
		}
	})
}
