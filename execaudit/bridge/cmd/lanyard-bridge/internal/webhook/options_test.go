package webhook

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/usage"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"nobody may call":         {func(o *Options) { o.PathSecretFile = "" }, "who may call the webhook?"},
		"names without authority": {func(o *Options) { o.ClientNames = []string{"x"} }, "--client-names needs --client-ca-file"},
		"no key":                  {func(o *Options) { o.SigningKeyFile = "" }, "--key-file is missing"},
		"no certificate":          {func(o *Options) { o.CertFile = "" }, "--tls-cert-file is missing"},
		"no records":              {func(o *Options) { o.RecordsFile = "" }, "--records-file is missing"},
		"another choice":          {func(o *Options) { o.Unready = "maybe" }, `--unready is "maybe"`},
		"a long lifetime":         {func(o *Options) { o.Lifetime = time.Hour }, "--token-lifetime is 1h0m0s"},
		"no timeout":              {func(o *Options) { o.Timeout = 0 }, "--timeout"},
		"a negative size":         {func(o *Options) { o.RecordsBytes = -1 }, "--records-max-bytes and --records-keep"},
		"one file for both":       {func(o *Options) { o.AuditFile = o.RecordsFile }, "two files"},
	} {
		t.Run("BRG-9 checked at start: "+name, func(t *testing.T) {
			o := newRig(t).options
			test.change(&o)
			if err := o.Validate(); !errors.As(err, new(usage.Error)) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("Validate = %v, want %q", err, test.says)
			}
		})
	}
	for name, test := range map[string]struct {
		file, content, says string
	}{
		"a short secret path":   {"path", "short", "at least 22 characters"},
		"a path with a slash":   {"path", secretPath + "/x", "letters, digits"},
		"an empty path file":    {"path", "\n", "no secret path"},
		"a key that is none":    {"key", "lanyard-exec-key:1:hush", "signing key"},
		"a public key":          {"key", token.NewKey().Public().String(), "signing key"},
		"no key":                {"key", "# none\n", "there is no private key"},
		"another key's TLS":     {"tls.key", "", "serving certificate"},
		"authorities not PEM":   {"clients.crt", "x", "no certificate in PEM"},
		"a kubeconfig of dirt ": {"kubeconfig", "{", "credentials for the API server"},
	} {
		t.Run("BRG-9 checked at start: "+name, func(t *testing.T) {
			r := newRig(t)
			name := r.file(test.file, []byte(test.content))
			switch test.file {
			case "clients.crt":
				r.options.ClientCAFile = name
			case "kubeconfig":
				r.options.Kubeconfig = name
			}
			err := run(t.Context(), r.options, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hush") {
				t.Fatalf("run = %v, want %q", err, test.says)
			}
		})
	}
}
