package execcredential_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

// shown returns value as every verb, encoding/json and log/slog show it.
func shown(value any) string {
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&out, verb+"\n", value)
	}
	if data, err := json.Marshal(value); err == nil {
		out.Write(data)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("x", "value", value)
	}
	return out.String()
}

func TestSecretsAreNotShown(t *testing.T) {
	env := []execcredential.EnvVar{{Name: "TOKEN", Value: redact.New(sesame)}}
	config := execcredential.ExecConfig{Command: "c", Args: redact.Texts("login", "--password="+sesame), Env: env}
	cluster := execcredential.Cluster{
		Server: "https://s", ProxyURL: redact.New("http://u:" + sesame + "@proxy"), Config: redact.NewBytes([]byte(`{"secret":"` + sesame + `"}`)),
	}
	object := execcredential.ExecCredential{Spec: execcredential.Spec{Cluster: &cluster}}
	type holder struct{ hidden any }
	for name, value := range map[string]any{
		"arguments and environment of ExecConfig": config, "pointer to ExecConfig": &config, "ExecConfig in an unexported field": holder{config},
		"EnvVar": env[0], "slice of EnvVar": env, "map of EnvVar": map[string]execcredential.EnvVar{"a": env[0]},
		"proxy and configuration of Cluster": cluster, "Cluster in an unexported field": holder{&cluster}, "slice of Cluster": []execcredential.Cluster{cluster},
		"cluster of ExecCredential": object, "cluster of Spec": object.Spec,
	} {
		t.Run("MOD-9 ECR-28 "+name, func(t *testing.T) {
			numbers := strings.Trim(fmt.Sprint([]byte(sesame)), "[]")
			for _, form := range []string{sesame, fmt.Sprintf("%x", sesame), fmt.Sprintf("%X", sesame), numbers} {
				if text := shown(value); strings.Contains(text, form) {
					t.Errorf("it shows the secret: %s", text)
				}
			}
		})
	}
	t.Run("MOD-9 the names are shown", func(t *testing.T) {
		if text := fmt.Sprintf("%v %+v", config, env); strings.Count(text, "TOKEN="+redact.Mark) != 2 || !strings.Contains(text, `Command:"c"`) {
			t.Errorf("printed: %s", text)
		}
	})
}
