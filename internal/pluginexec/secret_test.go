package pluginexec_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/internal/pluginexec"
)

const sesame = "open-sesame-4711"

// Holder hides a secret where fmt cannot call its methods.
type Holder struct{ hidden pluginexec.Secret }

func TestSecretIsNeverPrinted(t *testing.T) {
	secret := pluginexec.NewSecret(sesame)
	values := map[string]any{
		"value":            secret,
		"pointer":          &secret,
		"exported field":   struct{ Token pluginexec.Secret }{secret},
		"unexported field": Holder{secret},
		"slice":            []pluginexec.Secret{secret},
		"map":              map[string]pluginexec.Secret{"a": secret},
		"any in slice":     []any{secret, Holder{secret}},
	}
	for name, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s", "%T %v"} {
			t.Run("ECR-28 "+name+" with "+verb, func(t *testing.T) {
				args := []any{value}
				if strings.HasPrefix(verb, "%T") {
					args = append(args, value)
				}
				mustNotHold(t, fmt.Sprintf(verb, args...))
			})
		}
	}
}

func TestSecretIsNeverEncoded(t *testing.T) {
	secret := pluginexec.NewSecret(sesame)
	field := struct{ Token pluginexec.Secret }{secret}
	t.Run("ECR-28 JSON holds the mark in place of the text", func(t *testing.T) {
		data, err := json.Marshal(field)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(data), `{"Token":"[redacted]"}`; got != want {
			t.Errorf("json.Marshal = %s, want %s", got, want)
		}
	})
	t.Run("ECR-28 text encoders write the mark", func(t *testing.T) {
		data, err := xml.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		mustNotHold(t, string(data))
	})
	t.Run("ECR-28 slog handlers write the mark", func(t *testing.T) {
		var out bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("login", "token", secret, "all", field, "group", slog.GroupValue(slog.Any("t", secret)))
		}
		mustNotHold(t, out.String())
		if !strings.Contains(out.String(), "[redacted]") {
			t.Errorf("log = %s, want the mark", out.String())
		}
	})
}

func TestSecretContent(t *testing.T) {
	t.Run("Reveal returns the text", func(t *testing.T) {
		if got := pluginexec.NewSecret(sesame).Reveal(); got != sesame {
			t.Errorf("Reveal() = %q, want %q", got, sesame)
		}
	})
	t.Run("the zero value is empty and prints like any other", func(t *testing.T) {
		var zero pluginexec.Secret
		if zero.Reveal() != "" || !zero.IsEmpty() || zero.String() != "[redacted]" {
			t.Errorf("zero = %q, %v, %s", zero.Reveal(), zero.IsEmpty(), zero)
		}
		if !zero.Equal(pluginexec.NewSecret("")) {
			t.Error("zero.Equal(NewSecret(\"\")) = false, want true")
		}
	})
}

func mustNotHold(t *testing.T, text string) {
	t.Helper()
	hexed := fmt.Sprintf("%x", sesame)
	if strings.Contains(text, sesame) || strings.Contains(strings.ToLower(text), hexed) {
		t.Errorf("output holds the secret: %s", text)
	}
}
