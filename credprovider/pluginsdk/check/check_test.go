package check_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk/check"
	"github.com/lanyard-dev/lanyard/redact"
)

func status(t *testing.T, r check.Report, name string) check.Status {
	t.Helper()
	for _, c := range r.Cases {
		if c.Name == name {
			return c.Status
		}
	}
	t.Fatalf("no case %q in %s", name, r)
	return ""
}

func withToken(env ...string) check.Options {
	o := check.Options{Image: "reg.io/app", Token: redact.New("eyJ.secret.token"), Annotations: map[string]string{"a": "1"}}
	for i := 0; i < len(env); i += 2 {
		o.Env = append(o.Env, credprovider.EnvVar{Name: env[i], Value: redact.New(env[i+1])})
	}
	return o
}

func TestRun(t *testing.T) {
	ctx := context.Background()
	t.Run("CRP-24 a plugin made with pluginsdk passes", func(t *testing.T) {
		r := check.Run(ctx, exchange, withToken())
		if !r.OK() || len(r.Cases) != 9 {
			t.Errorf("report:\n%s", r)
		}
		for _, c := range r.Cases {
			if c.Status != check.StatusPass {
				t.Errorf("%+v", c)
			}
		}
	})
	t.Run("CRP-24 an echo of the token fails, unless cacheType is Token", func(t *testing.T) {
		o := withToken("ECHO", "1")
		if r := check.Run(ctx, exchange, o); r.OK() || status(t, r, check.CaseEcho) != check.StatusFail {
			t.Errorf("report:\n%s", r)
		}
		o.CacheType = credprovider.CacheByToken
		if r := check.Run(ctx, exchange, o); !r.OK() {
			t.Errorf("report:\n%s", r)
		}
	})
	t.Run("CRP-24 a refusal is inconclusive", func(t *testing.T) {
		r := check.Run(ctx, exchange, withToken("REFUSE", "1"))
		if r.OK() || r.Outcome() != check.StatusInconclusive || status(t, r, check.CaseAnswer) != check.StatusInconclusive || status(t, r, check.CaseKeys) != check.StatusInconclusive {
			t.Errorf("report:\n%s", r)
		}
	})
	t.Run("CRP-24 no executable", func(t *testing.T) {
		if r := check.Run(ctx, filepath.Join(t.TempDir(), "none"), check.Options{}); r.OK() || len(r.Cases) != 1 {
			t.Errorf("report:\n%s", r)
		}
	})
	t.Run("CRP-24 a bad cacheKeyType, which the kubelet drops", func(t *testing.T) {
		if r := check.Run(ctx, exchange, withToken("KEY_TYPE", "ServiceAccount")); r.OK() && status(t, r, check.CaseAnswer) == check.StatusPass {
			t.Errorf("report:\n%s", r)
		}
	})
}
