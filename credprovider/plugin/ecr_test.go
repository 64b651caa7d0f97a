package plugin_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk/check"
	"github.com/lanyard-dev/lanyard/redact"
)

// ecrBinary is the file name of the plugin of k8s.io/cloud-provider-aws v1.37.0, cmd/ecr-credential-provider.
const ecrBinary = "ecr-credential-provider"

// ecrDir returns the directory that contains the real plugin: $LANYARD_BIN, or .build/bin of the repository.
func ecrDir(t *testing.T) string {
	t.Helper()
	dirs := []string{os.Getenv("LANYARD_BIN")}
	if wd, err := os.Getwd(); err == nil {
		dirs = append(dirs, filepath.Join(wd, "..", "..", ".build", "bin"))
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, ecrBinary)); dir != "" && err == nil {
			return dir
		}
	}
	t.Skipf("%s is neither in $LANYARD_BIN nor in .build/bin: install k8s.io/cloud-provider-aws/cmd/%s@v1.37.0 there", ecrBinary, ecrBinary)
	return ""
}

// fakeECR answers the one call that the plugin makes, on loopback.
func fakeECR(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetAuthorizationToken") {
			http.Error(w, "unexpected call", http.StatusBadRequest)
			return
		}
		token := base64.StdEncoding.EncodeToString([]byte("AWS:pw123"))
		fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":4102444800,"proxyEndpoint":"https://123456789012.dkr.ecr.us-east-1.amazonaws.com"}]}`, token)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestRealECRPlugin(t *testing.T) {
	dir := ecrDir(t)
	const image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/team/app"
	env := func(endpoint string) []credprovider.EnvVar {
		return []credprovider.EnvVar{
			{Name: "AWS_ENDPOINT_URL", Value: redact.New(endpoint)},
			{Name: "AWS_ACCESS_KEY_ID", Value: redact.New("dummy")},
			{Name: "AWS_SECRET_ACCESS_KEY", Value: redact.New("dummy")},
			{Name: "AWS_EC2_METADATA_DISABLED", Value: redact.New("true")},
			{Name: "AWS_REGION", Value: redact.New("us-east-1")},
			{Name: "AWS_MAX_ATTEMPTS", Value: redact.New("1")},
		}
	}
	find := func(version string) *plugin.Plugin {
		p, err := plugin.Find(credprovider.Provider{Name: ecrBinary, APIVersion: version, Env: env(fakeECR(t).URL)}, dir, plugin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("CRP-5 it serves a lookup", func(t *testing.T) {
		response, err := find(credprovider.V1).Run(context.Background(), credprovider.Request{APIVersion: credprovider.V1, Image: image})
		if err != nil {
			var failed *plugin.Error
			errors.As(err, &failed)
			t.Fatalf("Run = %v: %s", err, failed.Stderr.Reveal())
		}
		found := credprovider.Credentials(image, credprovider.NewKeyring(ecrBinary, nil, response.Auth))
		if len(found) != 1 || found[0].Username != "AWS" || found[0].Password.Reveal() != "pw123" || response.CacheKeyType != credprovider.KeyRegistry {
			t.Errorf("Run = %+v", response)
		}
	})
	t.Run("CRP-5 it refuses v1beta1, and the reason is in a field", func(t *testing.T) {
		_, err := find(credprovider.V1beta1).Run(context.Background(), credprovider.Request{APIVersion: credprovider.V1beta1, Image: image})
		var failed *plugin.Error
		if !errors.As(err, &failed) || failed.Kind != plugin.ErrExit || failed.ExitCode != 1 || !strings.Contains(string(failed.Stderr.Reveal()), "not supported") {
			t.Errorf("Run = %v, %q", err, failed.Stderr.Reveal())
		}
	})
	t.Run("CRP-34 it passes the check", func(t *testing.T) {
		r := check.Run(context.Background(), filepath.Join(dir, ecrBinary), check.Options{Image: image, Env: env(fakeECR(t).URL)})
		if !r.OK() {
			t.Errorf("report:\n%s", r)
		}
	})
	t.Run("CRP-34 while its service is away the check is inconclusive, not failed", func(t *testing.T) {
		away := fakeECR(t)
		away.Close()
		r := check.Run(context.Background(), filepath.Join(dir, ecrBinary), check.Options{Image: image, Env: env(away.URL)})
		if r.Outcome() != check.StatusInconclusive {
			t.Errorf("report:\n%s", r)
		}
	})
}
