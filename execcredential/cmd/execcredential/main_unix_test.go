//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sesame = "open-sesame-4711"

// execute runs the tool and returns its output, with that on standard error, and an error for an exit code that is not
// 0.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	if code := run(t.Context(), args, &out, &out); code != 0 {
		return out.String(), fmt.Errorf("exit code %d", code)
	}
	return out.String(), nil
}

func file(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func plugin(t *testing.T, body string) string {
	t.Helper()
	return file(t, "plugin", "#!/bin/sh\n"+body+"\n", 0o755)
}

func kubeconfigFor(t *testing.T, command, more string) string {
	t.Helper()
	return file(t, "config", fmt.Sprintf(`
current-context: dev
contexts: [{name: dev, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users:
- name: u
  user:
    %s
    exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, args: [login, --password=%s], interactiveMode: Never, provideClusterInfo: true, installHint: "brew \x1b[31m it", env: [{name: SECRET, value: %s}]}
`, more, command, sesame, sesame), 0o600)
}

const tokenAnswer = `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"` + sesame + `","expirationTimestamp":"2999-01-01T00:00:00Z"}}`

func TestExplain(t *testing.T) {
	cases := []struct {
		name, command, more string
		flags               []string
		want                []string
		fails               bool
	}{
		{"MOD-9 ECR-28 a good plugin: path, number of arguments, masked environment, redacted answer, expiry", plugin(t, "echo hello >&2; echo '"+tokenAnswer+"'"), "", []string{"--run"}, []string{
			"method     exec", "plugin, 2 arguments\n", "env        adds SECRET=[redacted]", "with cluster information", "stderr     \"hello\"", "exit       0", "token=[redacted]", "client     keeps it for",
		}, false},
		{"without --run nothing runs", plugin(t, "touch /nonexistent/marker"), "", nil, []string{"not asked for"}, false},
		{"a plugin that fails: exit code and standard error", plugin(t, "echo why >&2; exit 5"), "", []string{"--run"}, []string{"stderr     \"why\"", "exited with code 5"}, true},
		{"ECR-28 an answer that no client takes is not shown", plugin(t, "echo "+sesame), "", []string{"--run"}, []string{"answer     decode ExecCredential"}, true},
		{"ECR-12 a plugin that is missing, with its hint, escapes made visible", "/nonexistent/plugin", "", nil, []string{"no such executable", `brew \x1b[31m it`}, true},
		{"ECR-15 a static token wins, and it says so", "plugin", "token: x", nil, []string{"method     token", "not run: the user has a static token"}, false},
		{"ECR-21 a policy that does not permit it", plugin(t, ""), "", []string{"--allow", "other"}, []string{"not permitted"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := execute(t, append([]string{"explain", "--kubeconfig", kubeconfigFor(t, c.command, c.more)}, c.flags...)...)
			if (err != nil) != c.fails {
				t.Errorf("explain = %v, want failure %v", err, c.fails)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("output has no %q:\n%s", want, out)
				}
			}
			if strings.Contains(out, sesame) {
				t.Errorf("output holds a secret:\n%s", out)
			}
		})
	}
}

func TestCheckPlugin(t *testing.T) {
	cases := []struct {
		name, body string
		want       string
		fails      bool
	}{
		{"a plugin without fault", "echo '" + tokenAnswer + "'", "v1: ok", false},
		{"ECR-6 another version", "echo '" + strings.Replace(tokenAnswer, "/v1", "/v1beta1", 1) + "'", "answered with", true},
		{"YAML", "printf 'apiVersion: client.authentication.k8s.io/v1\\nkind: ExecCredential\\nstatus: {token: t}\\n'", "not JSON", true},
		{"no kind", "echo '" + strings.Replace(tokenAnswer, `"kind":"ExecCredential",`, "", 1) + "'", "no kind", true},
		{"unknown fields", "echo '" + strings.Replace(tokenAnswer, `"token"`, `"extra":1,"token"`, 1) + "'", "status.unknown fields: 1", true},
		{"no expiry", `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}}'`, "whole life", true},
		{"an expiry in the past", "echo '" + strings.Replace(tokenAnswer, "2999", "1999", 1) + "'", "in the past", true},
		{"ECR-11 a plugin that hangs", "exec sleep 1000", "did not finish within 300ms", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := execute(t, "check-plugin", "--timeout", "300ms", "--", plugin(t, c.body), "arg")
			if (err != nil) != c.fails || !strings.Contains(out, c.want) || strings.Contains(out, sesame) {
				t.Errorf("check-plugin = %v, want %q in\n%s", err, c.want, out)
			}
		})
	}
}
