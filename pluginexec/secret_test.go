package pluginexec_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

const sesame = "open-sesame-4711"

func TestNothingIsShown(t *testing.T) {
	said := redact.NewBytes([]byte(sesame))
	values := map[string]any{
		"Command":             pluginexec.Command{Path: "/plugin", Args: redact.Texts(sesame), Env: redact.Texts("TOKEN=" + sesame), Stdin: said},
		"Result":              pluginexec.Result{Stdout: said, Stderr: said},
		"ExitError":           pluginexec.ExitError{Path: "/plugin", Code: 1, Stderr: said},
		"TimeoutError":        pluginexec.TimeoutError{Path: "/plugin", Stderr: said},
		"CancelledError":      pluginexec.CancelledError{Path: "/plugin", Err: errors.New("no time"), Stderr: said},
		"OutputTooLargeError": pluginexec.OutputTooLargeError{Path: "/plugin", Stderr: said},
	}
	for name, value := range values {
		t.Run("MOD-9 ECR-28 "+name+" by fmt, JSON and slog", func(t *testing.T) { mustNotShow(t, value) })
	}
	t.Run("MOD-9 ECR-28 pointers to errors by fmt, JSON and slog", func(t *testing.T) {
		mustNotShow(t, &pluginexec.ExitError{Path: "/plugin", Code: 1, Stderr: said})
		mustNotShow(t, &pluginexec.TimeoutError{Path: "/plugin", Stderr: said})
		mustNotShow(t, &pluginexec.CancelledError{Path: "/plugin", Err: errors.New("no time"), Stderr: said})
		mustNotShow(t, &pluginexec.OutputTooLargeError{Path: "/plugin", Stderr: said})
	})
	t.Run("MOD-9 what identifies the run is shown", func(t *testing.T) {
		text, err := json.Marshal(pluginexec.ExitError{Path: "/plugin", Code: 7, Stderr: said})
		if want := `{"Path":"/plugin","Code":7,"Signal":0,"Stderr":"[redacted]"}`; err != nil || string(text) != want {
			t.Errorf("json.Marshal(ExitError) = %s, %v, want %s", text, err, want)
		}
	})
}

// mustNotShow prints the value in every way, alone and inside a struct whose field fmt may not call methods on.
func mustNotShow(t *testing.T, value any) {
	t.Helper()
	var out bytes.Buffer
	for _, shape := range []any{value, []any{value}, map[string]any{"key": value}, struct{ hidden any }{value}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			fmt.Fprintf(&out, verb+"\n", shape)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("run", "value", shape)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("run", "value", shape)
		if text, err := json.Marshal(shape); err == nil {
			out.Write(text)
		}
	}
	numbers := strings.Trim(fmt.Sprint([]byte(sesame)), "[]")
	encoded := base64.StdEncoding.EncodeToString([]byte(sesame))[:12]
	for _, form := range []string{sesame, fmt.Sprintf("%x", sesame), fmt.Sprintf("%X", sesame), numbers, encoded} {
		if strings.Contains(out.String(), form) {
			t.Errorf("%T shows the secret: %s", value, out.String())
			return
		}
	}
}
