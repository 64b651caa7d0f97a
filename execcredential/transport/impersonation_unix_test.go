//go:build unix

package transport_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
)

// impersonating is a kubeconfig whose user acts as somebody else.
const impersonating = `
clusters: [{name: c, cluster: {server: "%s", certificate-authority-data: "%s"}}]
users:
- name: u
  user:
    as: readonly
    as-uid: uid-7
    as-groups: [viewers, "system:authenticated"]
    as-user-extra: {reason: ["look only", now], "a/b%%c": [x]}
    exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never}
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

// impersonated are the headers that a request acts with.
func impersonated(header http.Header) map[string][]string {
	found := map[string][]string{}
	for name, values := range header {
		if strings.HasPrefix(name, "Impersonate-") {
			found[name] = values
		}
	}
	return found
}

var wantImpersonated = map[string][]string{
	"Impersonate-User":            {"readonly"},
	"Impersonate-Uid":             {"uid-7"},
	"Impersonate-Group":           {"viewers", "system:authenticated"},
	"Impersonate-Extra-Reason":    {"look only", "now"},
	"Impersonate-Extra-A%2fb%25c": {"x"},
}

func TestImpersonation(t *testing.T) {
	authority := loginlab.NewAuthority(t)
	var seen http.Header
	server := authority.Server(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Clone() }))
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	text := fmt.Sprintf(impersonating, server.URL, base64.StdEncoding.EncodeToString(authority.PEM), plugin.Path)
	config, err := kubeconfig.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	login, err := config.Resolve("", kubeconfig.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := newPool(t, transport.Options{}).Client(*login.Exec, login.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ECR-29 ECR-30 a client made from a kubeconfig's login acts as whom the user names", func(t *testing.T) {
		get(t, client, server.URL)
		if got := impersonated(seen); !reflect.DeepEqual(got, wantImpersonated) || seen.Get("Authorization") != "Bearer t" {
			t.Errorf("server saw %v as %q, want %v", got, seen.Get("Authorization"), wantImpersonated)
		}
	})
	t.Run("ECR-30 so it does with a credential of the caller's own", func(t *testing.T) {
		req := request(t, server.URL)
		req.Header.Set("Authorization", "Bearer own")
		if _, err := client.Do(req); err != nil {
			t.Fatal(err)
		}
		if got := impersonated(seen); !reflect.DeepEqual(got, wantImpersonated) || seen.Get("Authorization") != "Bearer own" {
			t.Errorf("server saw %v as %q, want %v", got, seen.Get("Authorization"), wantImpersonated)
		}
		if len(impersonated(req.Header)) > 0 {
			t.Errorf("the caller's request was changed: %v", req.Header)
		}
	})
	t.Run("ECR-30 a request that names somebody itself is left alone, as in client-go", func(t *testing.T) {
		req := request(t, server.URL)
		req.Header.Set("Impersonate-User", "other")
		if _, err := client.Do(req); err != nil {
			t.Fatal(err)
		}
		if got, want := impersonated(seen), map[string][]string{"Impersonate-User": {"other"}}; !reflect.DeepEqual(got, want) {
			t.Errorf("server saw %v, want %v", got, want)
		}
	})
	t.Run("ECR-30 a certificate acts as somebody else too", func(t *testing.T) {
		certificate, key := authority.Client(t, "strong", time.Now().Add(-time.Hour), 2*time.Hour)
		plugin.Status("", certificate, key, time.Time{})
		exec := *login.Exec
		exec.Args = redact.Texts("other")
		other, err := newPool(t, transport.Options{}).Client(exec, login.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		get(t, other, server.URL)
		if got := impersonated(seen); !reflect.DeepEqual(got, wantImpersonated) || seen.Get("Authorization") != "" {
			t.Errorf("server saw %v, want %v", got, wantImpersonated)
		}
	})
	t.Run("ECR-30 groups without a name are refused", func(t *testing.T) {
		exec := *login.Exec
		exec.Impersonate = execcredential.Impersonation{Groups: []string{"g"}}
		var field *execcredential.FieldError
		if _, err := newPool(t, transport.Options{}).Source(exec, nil); !errors.As(err, &field) || field.Field != "as" {
			t.Errorf("Source = %v, want *FieldError of as", err)
		}
	})
	t.Run("ECR-10 who acts as different users shares one run of the plugin, and nobody's name", func(t *testing.T) {
		shared := loginlab.NewPlugin(t, "")
		shared.Status("t", "", "", time.Time{})
		pool := newPool(t, transport.Options{})
		for _, name := range []string{"", "one", "two"} {
			exec := shared.Config()
			exec.Impersonate.Name = name
			base := &headerLog{}
			if _, err := newSource(t, pool, exec).Wrap(base).RoundTrip(request(t, server.URL)); err != nil {
				t.Fatal(err)
			}
			if got := base.seen[0].Get("Impersonate-User"); got != name {
				t.Errorf("Impersonate-User = %q, want %q", got, name)
			}
		}
		if shared.Runs() != 1 {
			t.Errorf("runs = %d, want 1", shared.Runs())
		}
	})
}
