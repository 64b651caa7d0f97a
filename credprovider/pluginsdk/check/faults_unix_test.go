//go:build unix

package check_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk/check"
)

const answer = `echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Image","auth":{"reg.io":{"username":"u","password":"p"}}}'`

// TestBroken holds that each way to break the protocol is caught by the case that is meant for it.
func TestBroken(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a log line on stdout":                {"echo hello; " + answer, check.CaseAnswer},
		"a refusal without a word":            {"exit 1", check.CaseAnswer},
		"hangs":                               {"exec sleep 60", check.CaseAnswer},
		"every version is answered in v1":     {answer, check.CaseVersions},
		"unknown versions are answered":       {answer, check.CaseUnknown},
		"garbage is answered":                 {answer, check.CaseGarbage},
		"empty input is answered":             {answer, check.CaseEmpty},
		"the token goes to stderr":            {"cat >&2; " + answer, check.CaseSilent},
		"credentials for another registry":    {strings.Replace(answer, "reg.io", "other.io", 1), check.CaseKeys},
		"credentials under a key with a glob": {strings.Replace(answer, "reg.io", "reg.io/*", 1), check.CaseKeys},
	} {
		t.Run("CRP-24 "+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugin")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			o := withToken()
			if strings.Contains(c.script, "sleep") {
				o.Timeout = 100 * time.Millisecond
			}
			r := check.Run(context.Background(), path, o)
			if r.OK() || status(t, r, c.want) != check.StatusFail || strings.Contains(r.String(), "eyJ.secret.token") {
				t.Errorf("report:\n%s", r)
			}
		})
	}
}
