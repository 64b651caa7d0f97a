package configfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
)

func encode(t *testing.T, config credprovider.Config) string {
	t.Helper()
	data, err := configfile.Encode(config)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEncode(t *testing.T) {
	const text = `{"kind":"CredentialProviderConfig","apiVersion":"kubelet.config.k8s.io/v1","providers":[{"name":"a","matchImages":["reg.io"],` +
		`"defaultCacheDuration":"1m0s","apiVersion":"credentialprovider.kubelet.k8s.io/v1","args":["--password","hunter2"],"env":[{"name":"A","value":"hunter3"}]}]}` + "\n"
	loaded, err := configfile.Read("", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("CRP-1 the file that was read, with arguments and values", func(t *testing.T) {
		if got := encode(t, loaded.Config); got != text {
			t.Errorf("Encode = %s\nwant %s", got, text)
		}
	})
	t.Run("MOD-9 CRP-22 encoding/json shows neither arguments nor values", func(t *testing.T) {
		got, err := json.Marshal(loaded.Config)
		if want := strings.NewReplacer(`"--password"`, `"[redacted]"`, "hunter2", "[redacted]", "hunter3", "[redacted]", "\n", "").Replace(text); err != nil || string(got) != want {
			t.Errorf("json.Marshal = %s, %v\nwant %s", got, err, want)
		}
	})
}
