package credprovider_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// good returns a provider without fault.
func good() credprovider.Provider {
	return credprovider.Provider{
		Name: "reg", MatchImages: []string{"*.reg.io"}, APIVersion: credprovider.V1,
		DefaultCacheDuration: credprovider.NewDuration(time.Minute),
	}
}

// withToken returns a provider with tokenAttributes and without fault.
func withToken() credprovider.Provider {
	p, yes := good(), true
	p.TokenAttributes = &credprovider.TokenAttributes{
		ServiceAccountTokenAudience: "reg.io", CacheType: credprovider.CacheByServiceAccount, RequireServiceAccount: &yes,
	}
	return p
}

func plain(change func(*credprovider.Provider)) credprovider.Config {
	p := good()
	change(&p)
	return credprovider.Config{Providers: []credprovider.Provider{good2(), p}}
}

// good2 stands before the provider under test, so that its index shows.
func good2() credprovider.Provider {
	p := good()
	p.Name = "first"
	return p
}

func token(change func(*credprovider.TokenAttributes)) credprovider.Config {
	p := withToken()
	change(p.TokenAttributes)
	return credprovider.Config{Providers: []credprovider.Provider{good2(), p}}
}

func TestValidate(t *testing.T) {
	no := false
	on := credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}
	cases := []struct {
		name   string
		config credprovider.Config
		want   []string
	}{
		{"CRP-2 no fault", plain(func(*credprovider.Provider) {}), nil},
		{"CRP-2 no provider", credprovider.Config{}, []string{"providers: Required value: at least 1 item in plugins is required"}},
		{
			"CRP-2 name with slash", plain(func(p *credprovider.Provider) { p.Name = "foo/../bar" }),
			[]string{`providers[1].name: Invalid value: "foo/../bar": provider name cannot contain '/'`},
		},
		{
			"CRP-2 name with space", plain(func(p *credprovider.Provider) { p.Name = "a b" }),
			[]string{`providers[1].name: Invalid value: "a b": provider name cannot contain spaces`},
		},
		{
			"CRP-2 name dot", plain(func(p *credprovider.Provider) { p.Name = "." }),
			[]string{`providers[1].name: Invalid value: ".": provider name cannot be '.'`},
		},
		{
			"CRP-2 name dot dot", plain(func(p *credprovider.Provider) { p.Name = ".." }),
			[]string{`providers[1].name: Invalid value: "..": provider name cannot be '..'`},
		},
		{
			"CRP-2 no name", plain(func(p *credprovider.Provider) { p.Name = "" }),
			[]string{`providers[1].name: Required value: the name of the executable`},
		},
		{
			"CRP-2 CRP-17 two of one name", plain(func(p *credprovider.Provider) { p.Name = "first" }),
			[]string{`providers[1].name: Duplicate value: "first"`},
		},
		{"CRP-2 no version", plain(func(p *credprovider.Provider) { p.APIVersion = "" }), []string{`providers[1].apiVersion: Required value`}},
		{
			"CRP-2 unknown version", plain(func(p *credprovider.Provider) { p.APIVersion = "X" }),
			[]string{`providers[1].apiVersion: Unsupported value: "X": supported values: "credentialprovider.kubelet.k8s.io/v1", "credentialprovider.kubelet.k8s.io/v1alpha1", "credentialprovider.kubelet.k8s.io/v1beta1"`},
		},
		{
			"CRP-2 no images", plain(func(p *credprovider.Provider) { p.MatchImages = nil }),
			[]string{`providers[1].matchImages: Required value: at least 1 item in matchImages is required`},
		},
		{
			"CRP-2 bad image", plain(func(p *credprovider.Provider) { p.MatchImages = []string{"a.io", "%invalid%"} }),
			[]string{`providers[1].matchImages[1]: Invalid value: "%invalid%": match image is invalid: parse "https://%invalid%": invalid URL escape "%in"`},
		},
		{
			"CRP-2 no duration", plain(func(p *credprovider.Provider) { p.DefaultCacheDuration = nil }),
			[]string{`providers[1].defaultCacheDuration: Required value`},
		},
		{
			"CRP-2 negative duration", plain(func(p *credprovider.Provider) { p.DefaultCacheDuration = credprovider.NewDuration(-time.Minute) }),
			[]string{`providers[1].defaultCacheDuration: Invalid value: "-1m0s": must be greater than or equal to 0`},
		},
		{"CRP-2 CRP-13 zero duration is legal", plain(func(p *credprovider.Provider) { p.DefaultCacheDuration = credprovider.NewDuration(0) }), nil},
		{"CRP-3 no fault", token(func(*credprovider.TokenAttributes) {}), nil},
		{
			"CRP-3 no audience", token(func(a *credprovider.TokenAttributes) { a.ServiceAccountTokenAudience = "" }),
			[]string{`providers[1].tokenAttributes.serviceAccountTokenAudience: Required value`},
		},
		{
			"CRP-26 no cache type", token(func(a *credprovider.TokenAttributes) { a.CacheType = "" }),
			[]string{`providers[1].tokenAttributes.cacheType: Required value: cacheType is required to be set when tokenAttributes is specified. Supported values are: ServiceAccount, Token`},
		},
		{
			"CRP-26 bad cache type", token(func(a *credprovider.TokenAttributes) { a.CacheType = "X" }),
			[]string{`providers[1].tokenAttributes.cacheType: Unsupported value: "X": supported values: "ServiceAccount", "Token"`},
		},
		{
			"CRP-26 no requireServiceAccount", token(func(a *credprovider.TokenAttributes) { a.RequireServiceAccount = nil }),
			[]string{`providers[1].tokenAttributes.requireServiceAccount: Required value`},
		},
		{"CRP-26 required keys without required account", token(func(a *credprovider.TokenAttributes) {
			a.RequireServiceAccount, a.RequiredServiceAccountAnnotationKeys = &no, []string{"a/b"}
		}), []string{`providers[1].tokenAttributes.requiredServiceAccountAnnotationKeys: Forbidden: requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set`}},
		{
			"CRP-26 key is no qualified name", token(func(a *credprovider.TokenAttributes) {
				a.OptionalServiceAccountAnnotationKeys = []string{"cantendwithadash-"}
			}),
			[]string{`providers[1].tokenAttributes.optionalServiceAccountAnnotationKeys[0]: Invalid value: "cantendwithadash-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`},
		},
		{"CRP-26 upper case in a key is let pass", token(func(a *credprovider.TokenAttributes) {
			a.RequiredServiceAccountAnnotationKeys = []string{"UPPER.io/Name", "upper.io/name"}
		}), nil},
		{
			"CRP-26 duplicate key", token(func(a *credprovider.TokenAttributes) { a.RequiredServiceAccountAnnotationKeys = []string{"a/b", "a/b"} }),
			[]string{`providers[1].tokenAttributes.requiredServiceAccountAnnotationKeys[1]: Duplicate value: "a/b"`},
		},
		{"CRP-26 key in both lists", token(func(a *credprovider.TokenAttributes) {
			a.RequiredServiceAccountAnnotationKeys, a.OptionalServiceAccountAnnotationKeys = []string{"k", "j"}, []string{"j", "k"}
		}), []string{`providers[1].tokenAttributes: Invalid value: ["j","k"]: annotation keys cannot be both required and optional`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { checkFaults(t, credprovider.Validate(c.config, on), c.want) })
	}
	t.Run("CRP-3 gate off", func(t *testing.T) {
		checkFaults(t, credprovider.Validate(token(func(a *credprovider.TokenAttributes) { a.ServiceAccountTokenAudience = "" }), credprovider.Gates{}), []string{
			"providers[1].tokenAttributes: Forbidden: tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders feature gate is disabled",
			"providers[1].tokenAttributes.serviceAccountTokenAudience: Required value",
		})
	})
	t.Run("CRP-3 older protocol", func(t *testing.T) {
		config := token(func(*credprovider.TokenAttributes) {})
		config.Providers[1].APIVersion = credprovider.V1beta1
		checkFaults(t, credprovider.Validate(config, on), []string{
			"providers[1].tokenAttributes: Forbidden: tokenAttributes is only supported for credentialprovider.kubelet.k8s.io/v1 API version",
		})
	})
	t.Run("CRP-2 all faults at once, with file and index", func(t *testing.T) {
		p := credprovider.Provider{Name: "a b", APIVersion: "X", Origin: credprovider.Origin{File: "/etc/p.yaml", Index: 4}}
		err := credprovider.Validate(credprovider.Config{Providers: []credprovider.Provider{p}}, on)
		var faults credprovider.Faults
		if !errors.As(err, &faults) || len(faults) != 4 {
			t.Fatalf("Validate = %v, want four faults", err)
		}
		for _, fault := range faults {
			if fault.File != "/etc/p.yaml" || !strings.HasPrefix(fault.Error(), "/etc/p.yaml: providers[4].") {
				t.Errorf("fault %q does not name its place", fault.Error())
			}
		}
		var first *credprovider.Fault
		if !errors.As(err, &first) || first.Kind != credprovider.FaultInvalid || first.Field != "providers[4].name" {
			t.Errorf("first fault = %+v", first)
		}
	})
}

func checkFaults(t *testing.T, err error, want []string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != strings.Join(want, "\n") {
		t.Errorf("Validate = %s\nwant %s", got, strings.Join(want, "\n"))
	}
}

func TestAnnotationKeys(t *testing.T) {
	long := strings.Repeat("x", 64)
	for key, wantFault := range map[string]string{
		"a": "", "a.b/c": "", "a/b/c": "a valid label key", "/a": "prefix part must be non-empty", "a/": "name part must be non-empty",
		long: "no more than 63 bytes", "a_b/c": "a lowercase RFC 1123 subdomain", strings.Repeat(long[:63]+".", 4) + "a/b": "no more than 253 bytes",
		"é": "name part must consist", "a..b/c": "a lowercase RFC 1123 subdomain",
	} {
		t.Run("CRP-26 key "+key, func(t *testing.T) {
			err := credprovider.Validate(token(func(a *credprovider.TokenAttributes) { a.OptionalServiceAccountAnnotationKeys = []string{key} }), credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true})
			if (wantFault == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), wantFault) {
				t.Errorf("Validate = %v, want %q", err, wantFault)
			}
		})
	}
}
