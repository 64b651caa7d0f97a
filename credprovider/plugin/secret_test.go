package plugin_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/internal/testprint"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestNothingIsShown(t *testing.T) {
	const secret = "hunter2-4711"
	p, err := plugin.Find(credprovider.Provider{
		Name: filepath.Base(exchange), APIVersion: credprovider.V1, Args: redact.Texts("--password", secret),
		Env: []credprovider.EnvVar{{Name: "TOKEN", Value: redact.New(secret)}},
	}, filepath.Dir(exchange), plugin.Options{Env: redact.Texts("HOST_TOKEN=" + secret)})
	if err != nil {
		t.Fatal(err)
	}
	failed := plugin.Error{Provider: "p", Kind: plugin.ErrExit, ExitCode: 1, Stderr: redact.NewBytes([]byte(secret)), Err: errors.New("exit")}
	for name, value := range map[string]any{
		"Plugin": p, "a copy of a Plugin": *p, "Options": plugin.Options{Env: redact.Texts("TOKEN=" + secret)}, "Error": &failed, "a copy of an Error": failed,
	} {
		t.Run("MOD-9 CRP-22 "+name+" by fmt, JSON and slog", func(t *testing.T) {
			if text := testprint.Leaks(value, secret); text != "" {
				t.Errorf("the secret is in %s", text)
			}
		})
	}
}
