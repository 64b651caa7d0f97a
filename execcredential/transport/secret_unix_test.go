//go:build unix

package transport_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
)

type holder struct{ hidden any }

func TestNothingIsPrintedOrKept(t *testing.T) {
	const sesame = "open-sesame-4711"
	bodies := map[string]string{
		"success":         "",
		"exit code":       `echo "$PASSWORD" >&2; cat "$LAB/answer"; exit 1`,
		"time limit":      `echo "$PASSWORD" >&2; exec sleep 1000`,
		"flood":           `while :; do cat "$LAB/answer"; done`,
		"spoiled answer":  `echo "token: [$PASSWORD"; exit 0`,
		"lying answer":    `echo '{"kind":"open","apiVersion":"client.authentication.k8s.io/v9","status":{"token":"` + sesame + `"}}'; exit 0`,
		"signal":          `echo "$PASSWORD" >&2; kill -9 $$`,
		"wrong timestamp": `echo '{"apiVersion":"client.authentication.k8s.io/v1","status":{"expirationTimestamp":"` + sesame + `"}}'; exit 0`,
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", home)
	for name, body := range bodies {
		t.Run("ECR-28 "+name, func(t *testing.T) {
			plugin := loginlab.NewPlugin(t, body)
			plugin.Status(sesame, "", "", time.Time{})
			config := plugin.Config()
			config.Env = []execcredential.EnvVar{{Name: "PASSWORD", Value: redact.New(sesame)}}
			pool := newPool(t, transport.Options{Timeout: time.Second})
			source := newSource(t, pool, config)
			_, err := source.Credential(t.Context())
			_, again := source.Credential(t.Context())
			var log bytes.Buffer
			for _, value := range []any{err, again, pool, source, source.Wrap(nil), holder{source}, holder{pool}, holder{err}} {
				for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
					fmt.Fprintf(&log, verb, value)
				}
				slog.New(slog.NewTextHandler(&log, nil)).Info("x", "value", value)
			}
			if at := strings.Index(log.String(), sesame); at >= 0 {
				t.Errorf("output holds the secret after %q", log.String()[max(0, at-200):at])
			}
		})
	}
	t.Run("ECR-28 the client writes no file", func(t *testing.T) {
		_ = filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				if data, _ := os.ReadFile(path); bytes.Contains(data, []byte(sesame)) {
					t.Errorf("%s holds the secret", path)
				}
			}
			return nil
		})
	})
}
