package credprovider_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/internal/testprint"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestValidateLaws(t *testing.T) {
	const secret = "hunter2-4711"
	text := rapid.SampledFrom([]string{"", "a", "a b", "a/b", ".", "..", "*.reg.io", "[", "reg.io:x", "v9", credprovider.V1, "UPPER/lower", "Token"})
	provider := rapid.Custom(func(t *rapid.T) credprovider.Provider {
		p := credprovider.Provider{
			Name: text.Draw(t, "name"), MatchImages: rapid.SliceOfN(text, 0, 2).Draw(t, "images"), APIVersion: text.Draw(t, "version"),
			Args: redact.Texts(secret), Env: []credprovider.EnvVar{{Name: text.Draw(t, "variable"), Value: redact.New(secret)}},
		}
		if rapid.Bool().Draw(t, "duration") {
			p.DefaultCacheDuration = credprovider.NewDuration(-1)
		}
		if rapid.Bool().Draw(t, "tokens") {
			p.TokenAttributes = &credprovider.TokenAttributes{
				CacheType:                            credprovider.TokenCacheType(text.Draw(t, "cache type")),
				RequiredServiceAccountAnnotationKeys: rapid.SliceOfN(text, 0, 2).Draw(t, "required"),
				OptionalServiceAccountAnnotationKeys: rapid.SliceOfN(text, 0, 2).Draw(t, "optional"),
			}
		}
		return p
	})
	t.Run("MOD-9 CRP-22 no fault holds an argument or the value of an environment variable", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			err := credprovider.Validate(credprovider.Config{Providers: rapid.SliceOfN(provider, 0, 3).Draw(t, "providers")}, credprovider.Gates{})
			var faults credprovider.Faults
			if errors.As(err, &faults) {
				for _, fault := range faults {
					if text := testprint.Leaks(*fault, secret); text != "" {
						t.Fatalf("the secret is in %s", text)
					}
				}
			}
		})
	})
	t.Run("CRP-2 every fault is ErrConfig, and Validate returns faults or nil", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			err := credprovider.Validate(credprovider.Config{Providers: rapid.SliceOfN(provider, 0, 3).Draw(t, "providers")}, credprovider.Gates{})
			var faults credprovider.Faults
			if err == nil {
				return
			}
			if !errors.As(err, &faults) || len(faults) == 0 || !errors.Is(err, credprovider.ErrConfig) {
				t.Fatalf("Validate = %#v", err)
			}
		})
	})
}
