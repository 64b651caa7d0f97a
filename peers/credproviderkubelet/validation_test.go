package credproviderkubelet_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	kubelet "k8s.io/kubernetes/pkg/credentialprovider/plugin"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
)

var (
	indexes = regexp.MustCompile(`\[\d+\]`)
	regexes = regexp.MustCompile(` \(e\.g\. .*\)$`)
)

// theirFaults are a kubelet's, without what is Go's wrapping; empty when it starts.
func theirFaults(t *testing.T, file, dir string) []string {
	t.Helper()
	err := kubelet.RegisterCredentialProviderPlugins(file, dir, nil, nil)
	if err == nil {
		return nil
	}
	text, ok := strings.CutPrefix(err.Error(), "failed to validate credential provider config: ")
	if !ok {
		t.Fatalf("a kubelet says %v", err)
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	var all []string
	for fault := range strings.SplitSeq(text, ", providers") {
		all = append(all, regexes.ReplaceAllString("providers"+strings.TrimPrefix(fault, "providers"), ""))
	}
	return all
}

// ourFaults are the same, with the indexes taken out.
func ourFaults(t *testing.T, file string) []string {
	t.Helper()
	loaded, err := configfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var faults credprovider.Faults
	errors.As(credprovider.Validate(loaded.Config, credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}), &faults)
	var all []string
	for _, fault := range faults {
		plain := *fault
		plain.File, plain.Field = "", indexes.ReplaceAllString(fault.Field, "")
		all = append(all, regexes.ReplaceAllString(plain.Error(), ""))
	}
	return all
}

func TestValidation(t *testing.T) {
	yes, no := true, false
	good := func(change func(*credprovider.Provider)) credprovider.Provider {
		p := credprovider.Provider{Name: "v" + strings.ReplaceAll(t.Name(), "/", "-"), MatchImages: []string{"a.io"}, APIVersion: credprovider.V1, DefaultCacheDuration: credprovider.NewDuration(time.Minute)}
		change(&p)
		return p
	}
	token := func(change func(*credprovider.TokenAttributes)) credprovider.Provider {
		return good(func(p *credprovider.Provider) {
			p.TokenAttributes = &credprovider.TokenAttributes{ServiceAccountTokenAudience: "a", CacheType: credprovider.CacheByToken, RequireServiceAccount: &yes}
			change(p.TokenAttributes)
		})
	}
	for name, p := range map[string]credprovider.Provider{
		"slash":             good(func(p *credprovider.Provider) { p.Name = "foo/../bar" }),
		"space":             good(func(p *credprovider.Provider) { p.Name = "a b" }),
		"dot":               good(func(p *credprovider.Provider) { p.Name = "." }),
		"dot dot":           good(func(p *credprovider.Provider) { p.Name = ".." }),
		"no version":        good(func(p *credprovider.Provider) { p.APIVersion = "" }),
		"other version":     good(func(p *credprovider.Provider) { p.APIVersion = "v9" }),
		"no images":         good(func(p *credprovider.Provider) { p.MatchImages = nil }),
		"bad image":         good(func(p *credprovider.Provider) { p.MatchImages = []string{"%invalid%", "a.io:*"} }),
		"no duration":       good(func(p *credprovider.Provider) { p.DefaultCacheDuration = nil }),
		"negative duration": good(func(p *credprovider.Provider) { p.DefaultCacheDuration = credprovider.NewDuration(-time.Minute) }),
		"no audience":       token(func(a *credprovider.TokenAttributes) { a.ServiceAccountTokenAudience = "" }),
		"no cache type":     token(func(a *credprovider.TokenAttributes) { a.CacheType = "" }),
		"other cache type":  token(func(a *credprovider.TokenAttributes) { a.CacheType = "X" }),
		"nothing required":  token(func(a *credprovider.TokenAttributes) { a.RequireServiceAccount = nil }),
		"keys not required": token(func(a *credprovider.TokenAttributes) {
			a.RequireServiceAccount, a.RequiredServiceAccountAnnotationKeys = &no, []string{"k"}
		}),
		"bad key": token(func(a *credprovider.TokenAttributes) {
			a.OptionalServiceAccountAnnotationKeys = []string{"bad-", "BAD_"}
		}),
		"doubled key": token(func(a *credprovider.TokenAttributes) { a.RequiredServiceAccountAnnotationKeys = []string{"k", "k"} }),
		"key in both": token(func(a *credprovider.TokenAttributes) {
			a.RequiredServiceAccountAnnotationKeys, a.OptionalServiceAccountAnnotationKeys = []string{"k"}, []string{"k"}
		}),
		"older with a token": func() credprovider.Provider {
			p := token(func(*credprovider.TokenAttributes) {})
			p.APIVersion = credprovider.V1beta1
			return p
		}(),
		"everything at once": {Name: "a b", APIVersion: "X", TokenAttributes: &credprovider.TokenAttributes{RequireServiceAccount: &no, RequiredServiceAccountAnnotationKeys: []string{"-"}}},
	} {
		t.Run("CRP-2 CRP-3 CRP-26 "+name, func(t *testing.T) {
			file, dir := write(t, []credprovider.Provider{p})
			theirs, ours := theirFaults(t, file, dir), ourFaults(t, file)
			if len(theirs) == 0 || !slices.Equal(ours, theirs) {
				t.Errorf("ours:\n%s\na kubelet's:\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
			}
		})
	}
}
