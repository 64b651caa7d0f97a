package explain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/explain"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
)

func plain(match ...string) credprovider.Provider {
	return credprovider.Provider{Name: "reg", MatchImages: match, APIVersion: credprovider.V1, DefaultCacheDuration: credprovider.NewDuration(time.Minute)}
}

func forWorkload(cacheType credprovider.TokenCacheType, required bool) credprovider.Provider {
	p := plain("reg.io")
	p.TokenAttributes = &credprovider.TokenAttributes{
		ServiceAccountTokenAudience: "aud", CacheType: cacheType, RequireServiceAccount: &required, OptionalServiceAccountAnnotationKeys: []string{"opt"},
	}
	return p
}

func ask(p credprovider.Provider, change func(*explain.Question)) explain.Report {
	q := explain.Question{
		Config: credprovider.Config{Providers: []credprovider.Provider{p}}, Gates: credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}, Image: "reg.io/team/app:1",
		Pod:      provider.Pod{Namespace: "ns", Name: "p", ServiceAccount: "sa"},
		Account:  &credprovider.ServiceAccount{Namespace: "ns", Name: "sa", UID: "u", Annotations: map[string]string{"opt": "1"}},
		Audience: func(context.Context, credprovider.AccountRef, string) error { return nil },
	}
	if change != nil {
		change(&q)
	}
	return explain.Explain(context.Background(), q)
}

// last returns the last step of the only provider.
func last(t *testing.T, r explain.Report) explain.Step {
	t.Helper()
	if len(r.Providers) != 1 || len(r.Providers[0].Steps) == 0 {
		t.Fatalf("report = %+v", r)
	}
	steps := r.Providers[0].Steps
	return steps[len(steps)-1]
}

func TestStagesThatStop(t *testing.T) {
	required := forWorkload(credprovider.CacheByServiceAccount, true)
	needy := forWorkload(credprovider.CacheByServiceAccount, true)
	needy.TokenAttributes.RequiredServiceAccountAnnotationKeys = []string{"team.io/id"}
	broken := plain("reg.io")
	broken.APIVersion = "v9"
	for _, c := range []struct {
		name     string
		provider credprovider.Provider
		change   func(*explain.Question)
		stage    explain.Stage
		reason   string
	}{
		{"CRP-23 a rule is broken", broken, nil, explain.StageConfig, "Unsupported value"},
		{"CRP-23 the gate is off", required, func(q *explain.Question) { q.Gates.KubeletServiceAccountTokenForCredentialProviders = false }, explain.StageConfig, "feature gate is disabled"},
		{"CRP-23 a glob in the path", plain("reg.io/*"), nil, explain.StageImage, "taken as text"},
		{"CRP-23 other labels", plain("*.reg.io"), nil, explain.StageImage, "3 labels"},
		{"CRP-23 another port", plain("reg.io:443"), nil, explain.StageImage, `port is "443"`},
		{"CRP-23 another label", plain("r*.com"), nil, explain.StageImage, `"com" does not match "io"`},
		{"CRP-23 another path", plain("reg.io/other"), nil, explain.StageImage, `does not begin with its path "/other"`},
		{"CRP-23 CRP-28 no binary", plain("reg.io"), func(q *explain.Question) { q.BinDir = "/nonexistent" }, explain.StagePlugin, "plugin not found"},
		{"CRP-23 CRP-8 no service account", required, func(q *explain.Question) { q.Pod.ServiceAccount = "" }, explain.StageAccount, "skipped without an error"},
		{"CRP-23 another service account was given", required, func(q *explain.Question) { q.Account.Name = "other" }, explain.StageAccount, "not ns/other"},
		{"CRP-23 CRP-7 a missing annotation", needy, nil, explain.StageAnnotations, "team.io/id"},
		{"CRP-23 CRP-29 the audience is refused", required, func(q *explain.Question) {
			q.Audience = func(context.Context, credprovider.AccountRef, string) error { return errors.New("no rule allows it") }
		}, explain.StageToken, `audience "aud": no rule allows it`},
		{"CRP-23 CRP-12 an annotation that is too long", required, func(q *explain.Question) { q.Account.Annotations["opt"] = strings.Repeat("v", 70000) }, explain.StageKey, "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(c.provider, c.change)
			step := last(t, r)
			if r.Runs() || step.Stage != c.stage || step.Status != explain.StatusFail || !strings.Contains(step.Reason, c.reason) {
				t.Errorf("last step = %+v, want %s with %q", step, c.stage, c.reason)
			}
			if !strings.Contains(r.String(), "no plugin is run") {
				t.Errorf("report = %s", r)
			}
		})
	}
}

func TestStagesThatPass(t *testing.T) {
	t.Run("CRP-23 what would be sent, redacted", func(t *testing.T) {
		r := ask(forWorkload(credprovider.CacheByServiceAccount, true), nil)
		if !r.Runs() || r.Image != "reg.io/team/app" {
			t.Fatalf("report = %s", r)
		}
		text := r.String()
		for _, want := range []string{"image=reg.io/team/app", "token=[redacted]", "annotations=map[opt:1]", `audience "aud"`} {
			if !strings.Contains(text, want) {
				t.Errorf("report %s has no %q", text, want)
			}
		}
		if data, err := json.Marshal(r); err != nil || !strings.Contains(string(data), `"serviceAccountToken":"[redacted]"`) {
			t.Errorf("JSON = %s, %v", data, err)
		}
	})
	t.Run("CRP-23 CRP-8 no account and none required: no token", func(t *testing.T) {
		r := ask(forWorkload(credprovider.CacheByToken, false), func(q *explain.Question) { q.Pod.ServiceAccount = "" })
		if !r.Runs() || !r.Providers[0].Request.ServiceAccountToken.IsEmpty() {
			t.Errorf("report = %s", r)
		}
	})
	t.Run("CRP-23 what was not given is inconclusive, not failed", func(t *testing.T) {
		r := ask(forWorkload(credprovider.CacheByToken, true), func(q *explain.Question) { q.Account, q.Audience = nil, nil })
		var open []explain.Stage
		for _, step := range r.Providers[0].Steps {
			if step.Status == explain.StatusInconclusive {
				open = append(open, step.Stage)
			}
		}
		if want := []explain.Stage{explain.StagePlugin, explain.StageAccount, explain.StageAnnotations, explain.StageToken}; !r.Runs() || !slices.Equal(open, want) {
			t.Errorf("inconclusive = %v, want %v", open, want)
		}
	})
	t.Run("CRP-23 CRP-28 a binary that is there", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "reg"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		if r := ask(plain("reg.io"), func(q *explain.Question) { q.BinDir = dir }); !r.Runs() {
			t.Errorf("report = %s", r)
		}
	})
	t.Run("CRP-23 a reference that is none, and no provider", func(t *testing.T) {
		if r := ask(plain("reg.io"), func(q *explain.Question) { q.Image = "Reg io" }); r.Fault == "" || r.Runs() {
			t.Errorf("report = %+v", r)
		}
		if r := explain.Explain(context.Background(), explain.Question{Image: "a"}); !strings.Contains(r.Fault, "at least 1 item") {
			t.Errorf("report = %+v", r)
		}
	})
	t.Run("CRP-23 the fault of one provider is not another's", func(t *testing.T) {
		bad := plain("reg.io")
		bad.Name, bad.APIVersion = "bad", ""
		q := explain.Question{Config: credprovider.Config{Providers: []credprovider.Provider{plain("reg.io"), bad}}, Image: "reg.io/x"}
		r := explain.Explain(context.Background(), q)
		if !r.Providers[0].Runs || r.Providers[1].Runs {
			t.Errorf("report = %s", r)
		}
	})
}

func TestLint(t *testing.T) {
	for pattern, want := range map[string]explain.Effect{
		"*.registry.io": "", "reg.io": "", "reg.io/team/": "", "localhost:5000": "", "localhost": "", "[::1]:5000": "", "*:5000": "",
		"*.registry.io/*": explain.EffectNeverMatches, "https://reg.io": explain.EffectNeverMatches, "reg.io/a:tag": explain.EffectNeverMatches, "reg.io/a@sha256:1": explain.EffectNeverMatches,
		"reg.io/Team/": explain.EffectNeverMatches, "GCR.io": explain.EffectNeverMatches, "[::1]": explain.EffectNeverMatches, "reg.io.": explain.EffectNeverMatches, "index.docker.io": explain.EffectNeverMatches,
		"*": "", "k8s": explain.EffectNeverMatches, "": explain.EffectNeverMatches,
		"gcr.io/proj": explain.EffectMatchesMore, "reg.io?x=1": explain.EffectMatchesMore, "user@reg.io": explain.EffectMatchesMore, "reg.io:*": "",
	} {
		t.Run("CRP-23 lint "+pattern, func(t *testing.T) {
			warnings := explain.Lint(credprovider.Config{Providers: []credprovider.Provider{plain(pattern)}})
			got := explain.Effect("")
			if len(warnings) > 0 {
				got = warnings[0].Effect
				if !strings.HasPrefix(warnings[0].String(), `providers[0]: provider "reg"`) {
					t.Errorf("warning = %s", warnings[0])
				}
			}
			if got != want || len(warnings) > 1 {
				t.Errorf("Lint(%q) = %v, want %q", pattern, warnings, want)
			}
		})
	}
	t.Run("CRP-23 CRP-4 what never matches, never matches", rapid.MakeCheck(func(t *rapid.T) {
		pattern := rapid.StringMatching(`([a*]{1,2}\.){0,2}[a*]{1,2}(:[1]{1,2})?(/[aA*:]{0,2}){0,2}`).Draw(t, "pattern")
		reference := rapid.StringMatching(`(a{1,2}\.){0,2}a{1,2}(:1{1,2})?/[a]{1,2}(/a)?`).Draw(t, "reference")
		p, err := credprovider.Compile(pattern)
		if err != nil {
			return
		}
		image, err := credprovider.ParseImage(reference)
		if err != nil {
			return
		}
		for _, w := range explain.Lint(credprovider.Config{Providers: []credprovider.Provider{plain(pattern)}}) {
			if w.Effect == explain.EffectNeverMatches && p.Match(image.Repository) {
				t.Fatalf("%s, but it matches %q", w, image.Repository)
			}
		}
	}))
}

func Example() {
	yes := true
	config := credprovider.Config{Providers: []credprovider.Provider{{
		Name: "team", MatchImages: []string{"*.registry.io/*"}, APIVersion: credprovider.V1, DefaultCacheDuration: credprovider.NewDuration(time.Minute),
		TokenAttributes: &credprovider.TokenAttributes{ServiceAccountTokenAudience: "registry.io", CacheType: credprovider.CacheByToken, RequireServiceAccount: &yes},
	}}}
	report := explain.Explain(context.Background(), explain.Question{
		Config: config, Gates: credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}, Image: "my.registry.io/app:1",
	})
	fmt.Print(report)
	// Output:
	// image my.registry.io/app:1 is matched as my.registry.io/app
	//
	// provider team (providers[0])
	//   pass         configuration    no rule is broken
	//   fail         image            no pattern matches: "*.registry.io/*": its path "/*" is taken as text, and "/app" does not begin with it: remove the path
	// no plugin is run: the pull has no credentials from providers
}
