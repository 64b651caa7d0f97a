package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const config = `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: team
  matchImages: ["*.example.io"]
  defaultCacheDuration: 1m
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  tokenAttributes: {serviceAccountTokenAudience: example.io, cacheType: Token, requireServiceAccount: true, requiredServiceAccountAnnotationKeys: [team.io/id]}
`

const pod = `{"metadata":{"namespace":"ns","name":"p"},"spec":{"serviceAccountName":"sa","containers":[{"image":"reg.example.io/a:1"},{"image":"reg.example.io/a:1"},{"image":"other.io/b"}]}}`

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func tool(args ...string) (code int, out, problems string) {
	var o, p bytes.Buffer
	code = run(args, &o, &p)
	return code, o.String(), p.String()
}

func TestValidate(t *testing.T) {
	path := file(t, "c.yaml", config)
	t.Run("CRP-2 a good file", func(t *testing.T) {
		if code, out, _ := tool("validate", path); code != exitOK || !strings.Contains(out, "1 providers in 1 files, sha256:") {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	t.Run("CRP-2 CRP-1 faults with file and index", func(t *testing.T) {
		bad := file(t, "c.yaml", strings.Replace(config, "cacheType: Token, ", "", 1))
		if code, out, _ := tool("validate", bad); code != exitFound || !strings.Contains(out, bad+": providers[0].tokenAttributes.cacheType: Required value") {
			t.Errorf("exit %d, %s", code, out)
		}
		if code, out, _ := tool("validate", file(t, "c.yaml", config+"  typo: 1\n")); code != exitFound || !strings.Contains(out, `unknown field "providers[0].typo"`) {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	t.Run("CRP-3 the gate", func(t *testing.T) {
		if code, out, _ := tool("validate", "--service-account-tokens=false", path); code != exitFound || !strings.Contains(out, "feature gate is disabled") {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	t.Run("CRP-28 the executables", func(t *testing.T) {
		if code, out, _ := tool("validate", "--bin-dir", t.TempDir(), path); code != exitFound || !strings.Contains(out, "plugin not found") {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	t.Run("CRP-23 a warning is no failure", func(t *testing.T) {
		code, out, _ := tool("validate", file(t, "c.yaml", strings.Replace(config, "*.example.io", "*.example.io/*", 1)))
		if code != exitOK || !strings.Contains(out, "warning: ") || !strings.Contains(out, "never matches") {
			t.Errorf("exit %d, %s", code, out)
		}
	})
}

func TestExplain(t *testing.T) {
	path, podFile := file(t, "c.yaml", config), file(t, "pod.json", pod)
	account := func(annotations string) string {
		return file(t, "sa.yaml", "metadata: {namespace: ns, name: sa, uid: u, annotations: {"+annotations+"}}\n")
	}
	t.Run("CRP-23 every image of a pod, once", func(t *testing.T) {
		code, out, problems := tool("explain", "--config", path, "--pod", podFile, "--service-account", account(`team.io/id: "7"`))
		if code != exitFound || strings.Count(out, "is matched as") != 2 || !strings.Contains(out, "annotations=map[team.io/id:7]") || !strings.Contains(out, "no plugin is run") {
			t.Errorf("exit %d, %s%s", code, out, problems)
		}
	})
	t.Run("CRP-23 CRP-7 what stops it", func(t *testing.T) {
		code, out, _ := tool("explain", "--config", path, "--pod", podFile, "--image", "reg.example.io/a", "--service-account", account(""))
		if code != exitFound || !strings.Contains(out, "required annotation missing: team.io/id") {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	t.Run("CRP-23 JSON", func(t *testing.T) {
		code, out, _ := tool("explain", "--config", path, "--image", "reg.example.io/a", "--service-account", account(`team.io/id: "7"`), "--json")
		var report struct{ Providers []struct{ Runs bool } }
		if err := json.Unmarshal([]byte(out), &report); code != exitOK || err != nil || len(report.Providers) != 1 || !report.Providers[0].Runs {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	t.Run("CRP-23 usage", func(t *testing.T) {
		for _, args := range [][]string{{"explain", "--config", path}, {"explain", "--image", "x"}, {"explain", "--config", "none", "--image", "x"}, {"explain", "--config", path, "--pod", "none"}, {"nothing"}} {
			if code, _, problems := tool(args...); code != exitUsage || problems == "" {
				t.Errorf("%v: exit %d, %q", args, code, problems)
			}
		}
	})
}

func TestCheckPlugin(t *testing.T) {
	t.Run("CRP-24 a plugin that is none", func(t *testing.T) {
		code, out, _ := tool("check-plugin", filepath.Join(t.TempDir(), "none"))
		if code != exitFound || !strings.Contains(out, "fail ") {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	t.Run("CRP-24 CRP-22 the token is read from a file and shown nowhere", func(t *testing.T) {
		plugin := file(t, "plugin", "#!/bin/sh\ncat >&2\nexit 1\n")
		code, out, problems := tool("check-plugin", plugin, "--token-file", file(t, "token", "hunter2-token\n"), "--json")
		if code != exitFound || !strings.Contains(out, "standard error") || strings.Contains(out+problems, "hunter2") {
			t.Errorf("exit %d, %s%s", code, out, problems)
		}
	})
}
