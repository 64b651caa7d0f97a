package check_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/internal/testprint"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk/check"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestNothingIsShown(t *testing.T) {
	t.Run("MOD-9 CRP-22 Options by fmt, JSON and slog", func(t *testing.T) {
		const secret = "hunter2-4711"
		options := check.Options{
			Args: redact.Texts("--password", secret), Token: redact.New(secret),
			Env: []credprovider.EnvVar{{Name: "TOKEN", Value: redact.New(secret)}},
		}
		if text := testprint.Leaks(options, secret); text != "" {
			t.Errorf("the secret is in %s", text)
		}
	})
}
