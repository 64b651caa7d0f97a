package main

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// answers is a plugin that keeps every rule, as far as a shell can.
const answers = `#!/bin/sh
read -r line
for v in v1 v1beta1 v1alpha1; do
  case $line in *'"credentialprovider.kubelet.k8s.io/'$v'"'*)
    echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/'$v'","cacheKeyType":"Image","auth":{"reg.io":{"username":"u","password":"p"}}}'
    exit 0;;
  esac
done
echo "no request" >&2
exit 1
`

func TestCheckPluginOutcome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the plugins are shell scripts")
	}
	refuses := file(t, "plugin", "#!/bin/sh\necho no >&2\nexit 1\n")
	t.Run("CRP-34 what only refuses is inconclusive: exit code 3, and the text says so", func(t *testing.T) {
		code, out, problems := tool("check-plugin", refuses)
		if code != exitInconclusive || !strings.Contains(out, "\ninconclusive: no answer was seen") || problems != "" {
			t.Errorf("exit %d, %s%s", code, out, problems)
		}
	})
	t.Run("CRP-34 JSON says so too", func(t *testing.T) {
		code, out, _ := tool("check-plugin", refuses, "--json")
		var report struct{ Outcome string }
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitInconclusive || report.Outcome != "inconclusive" {
			t.Errorf("exit %d, %v, %s", code, err, out)
		}
	})
	t.Run("CRP-34 a plugin that answers passes", func(t *testing.T) {
		code, out, problems := tool("check-plugin", file(t, "plugin", answers), "--image", "reg.io/app", "--token-file", file(t, "token", "hunter2-token"))
		if code != exitOK || !strings.Contains(out, "\npass: ") {
			t.Errorf("exit %d, %s%s", code, out, problems)
		}
	})
	t.Run("CRP-34 an empty token file is an error: its cases would be left out in silence", func(t *testing.T) {
		code, _, problems := tool("check-plugin", file(t, "plugin", answers), "--image", "reg.io/app", "--token-file", file(t, "token", " \n"))
		if code != exitUsage || !strings.Contains(problems, "token") {
			t.Errorf("exit %d, %q", code, problems)
		}
	})
}

func TestNothingExaminedIsNoSuccess(t *testing.T) {
	path, podFile := file(t, "c.yaml", config), file(t, "pod.json", pod)
	for name, text := range map[string]string{
		"no containers":         `{"kind":"Pod","metadata":{"name":"p"}}`,
		"an empty file":         "",
		"a deployment":          `{"kind":"Deployment","metadata":{"name":"p"},"spec":{"template":{"spec":{"containers":[{"image":"reg.example.io/a"}]}}}}`,
		"a deployment, as pod":  `{"kind":"Deployment","spec":{"containers":[{"image":"reg.example.io/a"}]}}`,
		"another kind's fields": `{"kind":"ServiceAccount","metadata":{"name":"sa"}}`,
	} {
		t.Run("CRP-23 a pod file with nothing to explain is an error: "+name, func(t *testing.T) {
			code, out, problems := tool("explain", "--config", path, "--pod", file(t, "pod.json", text))
			if code != exitUsage || problems == "" {
				t.Errorf("exit %d, %q, %q", code, out, problems)
			}
		})
	}
	for name, text := range map[string]string{"an empty file": "", "a pod": pod, "a pod by its kind": `{"kind":"Pod","metadata":{"name":"sa"}}`, "no name": `{"kind":"ServiceAccount"}`} {
		t.Run("CRP-23 a service account file that is none is an error: "+name, func(t *testing.T) {
			if name == "a pod" {
				text = strings.Replace(pod, `{"metadata"`, `{"kind":"Pod","metadata"`, 1)
			}
			code, out, problems := tool("explain", "--config", path, "--image", "reg.example.io/a", "--service-account", file(t, "sa.json", text))
			if code != exitUsage || problems == "" {
				t.Errorf("exit %d, %q, %q", code, out, problems)
			}
		})
	}
	t.Run("CRP-23 every image of a pod: ephemeral containers and image volumes pull too", func(t *testing.T) {
		whole := `{"kind":"Pod","metadata":{"name":"p"},"spec":{"initContainers":[{"image":"i.io/a"}],"containers":[{"image":"c.io/a"}],` +
			`"ephemeralContainers":[{"image":"e.io/a"}],"volumes":[{"name":"v","image":{"reference":"v.io/a"}},{"name":"w","emptyDir":{}}]}}`
		_, out, problems := tool("explain", "--config", path, "--pod", file(t, "pod.json", whole))
		for _, image := range []string{"i.io/a", "c.io/a", "e.io/a", "v.io/a"} {
			if !strings.Contains(out, "image "+image+" is matched") {
				t.Errorf("no %s in %s%s", image, out, problems)
			}
		}
	})
	for name, text := range map[string]string{"an empty file": "", "another document": "a: 1\n", "no providers": "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\n"} {
		t.Run("CRP-2 a configuration without providers is not valid: "+name, func(t *testing.T) {
			if code, out, _ := tool("validate", file(t, "c.yaml", text)); code != exitFound {
				t.Errorf("exit %d, %s", code, out)
			}
		})
	}
	t.Run("CRP-1 an empty directory is not valid", func(t *testing.T) {
		if code, out, _ := tool("validate", t.TempDir()); code != exitFound {
			t.Errorf("exit %d, %s", code, out)
		}
	})
	for name, args := range map[string][]string{
		"validate": {"validate", path}, "explain": {"explain", "--config", path, "--pod", podFile, "--image", "reg.example.io/a"},
		"check-plugin": {"check-plugin", file(t, "plugin", answers), "--image", "reg.io/app"},
	} {
		t.Run("CRP-34 a report that could not be written is an error: "+name, func(t *testing.T) {
			var problems strings.Builder
			if code := run(args, full{}, &problems); code != exitUsage || !strings.Contains(problems.String(), errFull.Error()) {
				t.Errorf("exit %d, %q", code, problems.String())
			}
		})
	}
}

func TestTerminal(t *testing.T) {
	t.Run("CRP-23 names and annotations do not drive the terminal or add lines", func(t *testing.T) {
		account := file(t, "sa.json", `{"metadata":{"namespace":"ns","name":"sa","annotations":{"team.io/id":"7\u001b[2J\r\nprovider other\u009b"}}}`)
		path := file(t, "c.yaml", config)
		_, plain, _ := tool("explain", "--config", path, "--image", "reg.example.io/a", "--service-account", file(t, "sa.json", `{"metadata":{"namespace":"ns","name":"sa","annotations":{"team.io/id":"7"}}}`))
		_, out, _ := tool("explain", "--config", path, "--image", "reg.example.io/a", "--service-account", account)
		if strings.ContainsAny(out, "\x1b\r\u009b") || strings.Count(out, "\n") != strings.Count(plain, "\n") {
			t.Errorf("%q", out)
		}
		_, out, _ = tool("explain", "--config", path, "--image", "reg.example.io/a\x1b[2J")
		if strings.Contains(out, "\x1b") {
			t.Errorf("%q", out)
		}
	})
}

var errFull = errors.New("no space left")

// full is a standard output that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
