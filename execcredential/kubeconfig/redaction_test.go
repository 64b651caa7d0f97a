package kubeconfig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestSecretsAreNotShown(t *testing.T) {
	const secret = "open-sesame-4711"
	document := strings.ReplaceAll(`
current-context: dev
preferences: {colour: SECRET}
extensions: [{name: e, extension: {of: SECRET}}]
contexts: [{name: dev, context: {cluster: c, user: u, extensions: [{name: e, extension: SECRET}]}}]
clusters:
- name: c
  cluster:
    server: https://127.0.0.1:1
    proxy-url: http://u:SECRET@proxy
    extensions: [{name: client.authentication.k8s.io/exec, extension: {key: SECRET}}]
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: plugin, interactiveMode: Never,
      args: [login, --password=SECRET], env: [{name: TOKEN, value: SECRET}]}
- name: static
  user: {token: SECRET, client-key-data: b3Blbi1zZXNhbWUtNDcxMQ==}
- name: named
  user: {username: jane, password: SECRET, auth-provider: {name: SECRET}}
`, "SECRET", secret)
	config, err := kubeconfig.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := config.Resolve("", kubeconfig.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	type holder struct{ hidden any }
	for name, value := range map[string]any{
		"Config": config, "Config itself": *config, "Resolved": resolved, "Resolved itself": *resolved, "Resolved in an unexported field": holder{*resolved},
		"User.Exec": config.Users[0].User.Exec, "Users": config.Users, "Clusters": config.Clusters, "Contexts": config.Contexts,
		"Extensions": config.Extensions, "Overrides": kubeconfig.Overrides{ProxyURL: redact.New("http://u:" + secret + "@proxy")},
	} {
		t.Run("MOD-9 ECR-28 "+name, func(t *testing.T) {
			var out bytes.Buffer
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
				fmt.Fprintf(&out, verb+"\n", value)
			}
			if data, err := json.Marshal(value); err == nil {
				out.Write(data)
			}
			for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
				slog.New(handler).Info("x", "value", value)
			}
			numbers := strings.Trim(fmt.Sprint([]byte(secret)), "[]")
			for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), numbers, "b3Blbi1zZXNhbWU"} {
				if strings.Contains(out.String(), form) {
					t.Errorf("it shows the secret: %s", out.String())
				}
			}
		})
	}
	t.Run("MOD-9 ECR-19 Encode writes what is not shown", func(t *testing.T) {
		data, err := config.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := kubeconfig.Parse(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		user, cluster := again.Users[0].User, again.Clusters[0].Cluster
		for name, got := range map[string]string{
			"argument": user.Exec.Args[1].Reveal(), "environment value": user.Exec.Env[0].Value.Reveal(), "proxy": cluster.ProxyURL.Reveal(),
			"cluster's extension": string(cluster.Extensions[0].Extension.Reveal()), "preferences": string(again.Preferences.Reveal()),
			"extension": string(again.Extensions[0].Extension.Reveal()), "context's extension": string(again.Contexts[0].Context.Extensions[0].Extension.Reveal()),
			"token": again.Users[1].User.Token.Reveal(), "key": again.Users[1].User.ClientKeyData.Reveal(), "password": again.Users[2].User.Password.Reveal(),
			"auth-provider": again.Users[2].User.AuthProvider.Reveal(),
		} {
			if !strings.Contains(got, secret) {
				t.Errorf("%s read back = %q", name, got)
			}
		}
	})
}
