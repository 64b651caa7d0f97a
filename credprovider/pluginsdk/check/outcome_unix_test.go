//go:build unix

package check_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk/check"
)

// script writes a plugin that is a shell script and returns its path.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoAnswerIsNoPass holds that what only ever refuses, as any program does that is no plugin, is never said to pass.
func TestNoAnswerIsNoPass(t *testing.T) {
	programs := map[string]string{"echo no >&2; exit 1": script(t, "echo no >&2; exit 1")}
	for _, name := range []string{"tar", "gcc"} {
		if path, err := exec.LookPath(name); err == nil {
			programs[name] = path
		} else {
			t.Logf("no %s here: %v", name, err)
		}
	}
	for name, path := range programs {
		t.Run("CRP-34 "+name+" is inconclusive", func(t *testing.T) {
			r := check.Run(context.Background(), path, check.Options{})
			if r.OK() || r.Outcome() != check.StatusInconclusive || status(t, r, check.CaseVersions) != check.StatusInconclusive {
				t.Errorf("Outcome = %q, want %q\n%s", r.Outcome(), check.StatusInconclusive, r)
			}
			if lines := strings.Split(strings.TrimSpace(r.String()), "\n"); len(lines) != len(r.Cases)+1 || !strings.HasPrefix(lines[len(lines)-1], "inconclusive: no answer was seen") {
				t.Errorf("the last line does not say so:\n%s", r)
			}
			var got struct{ Outcome check.Status }
			if data, err := json.Marshal(r); err != nil || json.Unmarshal(data, &got) != nil || got.Outcome != check.StatusInconclusive {
				t.Errorf("JSON = %s, %v", data, err)
			}
		})
	}
}

func TestCrashIsNoRefusal(t *testing.T) {
	for name, body := range map[string]string{
		"on every request":      "echo oops >&2; kill -KILL $$",
		"on what is no request": "read -r line; case $line in *kubelet.k8s.io/v1\\\"*) " + answer + ";; *) echo oops >&2; kill -TERM $$;; esac",
	} {
		t.Run("CRP-34 a plugin that dies by a signal fails: "+name, func(t *testing.T) {
			r := check.Run(context.Background(), script(t, body), check.Options{Image: "reg.io/app"})
			if r.Outcome() != check.StatusFail || status(t, r, check.CaseGarbage) != check.StatusFail || status(t, r, check.CaseVersions) != check.StatusFail {
				t.Errorf("report:\n%s", r)
			}
		})
	}
}

func TestTokenCases(t *testing.T) {
	const token = "eyJ.secret.token"
	flood := "i=0; while [ $i -lt 600 ]; do echo 0123456789 >&2; i=$((i+1)); done"
	for name, body := range map[string]string{
		"before much else":              "cat >&2; " + flood + "; " + answer,
		"before a refusal":              "cat >&2; " + flood + "; exit 1",
		"before it hangs":               `read -r line; case $line in *secret.token*) echo "$line" >&2; exec sleep 60;; *) echo no >&2; exit 1;; esac`,
		"cut where the rest is kept":    "cat >/dev/null; printf %s " + token + " >&2; head -c 4090 /dev/zero | tr '\\0' x >&2; exit 1",
		"in two writes, then a refusal": "cat >/dev/null; printf eyJ.secret >&2; printf .token >&2; exit 1",
	} {
		t.Run("CRP-24 CRP-22 the token on standard error is seen, and not shown: "+name, func(t *testing.T) {
			o := withToken()
			if strings.Contains(body, "sleep") {
				o.Timeout = 2 * time.Second // time enough to start a shell on a busy machine
			}
			r := check.Run(context.Background(), script(t, body), o)
			if status(t, r, check.CaseSilent) != check.StatusFail || strings.Contains(r.String(), "secret.token") || strings.Contains(r.String(), "ret.token") {
				t.Errorf("report:\n%s", r)
			}
		})
	}
	t.Run("CRP-34 a token that the version has no place for is not said to stay inside", func(t *testing.T) {
		o := withToken()
		o.APIVersion = credprovider.V1beta1
		r := check.Run(context.Background(), exchange, o)
		if r.Outcome() != check.StatusInconclusive || status(t, r, check.CaseEcho) != check.StatusInconclusive || status(t, r, check.CaseSilent) != check.StatusInconclusive {
			t.Errorf("report:\n%s", r)
		}
	})
	t.Run("CRP-34 without credentials nothing says that the token stays inside", func(t *testing.T) {
		empty := `echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Image"}'`
		r := check.Run(context.Background(), script(t, empty), withToken())
		if status(t, r, check.CaseAnswer) != check.StatusPass || status(t, r, check.CaseEcho) != check.StatusInconclusive {
			t.Errorf("report:\n%s", r)
		}
	})
	t.Run("CRP-33 a token as the user name is an echo", func(t *testing.T) {
		body := strings.Replace(answer, `"username":"u"`, `"username":"`+token+`"`, 1)
		if r := check.Run(context.Background(), script(t, body), withToken()); status(t, r, check.CaseEcho) != check.StatusFail {
			t.Errorf("report:\n%s", r)
		}
	})
}

func TestReportIsOneLineACase(t *testing.T) {
	t.Run("CRP-34 what a plugin writes neither drives the terminal nor adds a line", func(t *testing.T) {
		r := check.Run(context.Background(), script(t, `printf 'no\033]0;x\007\033[2J\rpass\npass         every rule\302\233 is kept\n' >&2; exit 1`), check.Options{})
		if text := r.String(); strings.ContainsAny(text, "\x1b\x07\r\u009b") || strings.Count(text, "\n") != len(r.Cases)+1 {
			t.Errorf("report:\n%q", text)
		}
	})
}
