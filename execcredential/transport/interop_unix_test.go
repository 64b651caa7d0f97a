//go:build unix

package transport_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
)

// realPlugin returns the path of a plugin that the Makefile builds.
func realPlugin(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("LANYARD_BIN")
	if dir == "" {
		root, err := filepath.Abs(filepath.Join("..", ".."))
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(root, ".build", "bin")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not built: run make parts", path)
	}
	return path
}

func TestAWSIAMAuthenticator(t *testing.T) {
	path := realPlugin(t, "aws-iam-authenticator")
	for _, version := range []string{execcredential.V1, execcredential.V1Beta1} {
		t.Run("ECR-3 ECR-6 the real aws-iam-authenticator, offline, answers in "+version, func(t *testing.T) {
			pool := newPool(t, transport.Options{Environ: func() []string { return []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")} }})
			source := newSource(t, pool, execcredential.ExecConfig{
				Command: path, Args: redact.Texts("token", "-i", "c1"), APIVersion: version, InteractiveMode: execcredential.InteractiveNever,
				Env: []execcredential.EnvVar{
					{Name: "AWS_ACCESS_KEY_ID", Value: redact.New("AKIAEXAMPLE")},
					{Name: "AWS_SECRET_ACCESS_KEY", Value: redact.New("secret")},
					{Name: "AWS_REGION", Value: redact.New("us-east-1")},
					{Name: "AWS_EC2_METADATA_DISABLED", Value: redact.New("true")},
				},
			})
			credential, err := source.Credential(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if life := time.Until(credential.Expires()); !strings.HasPrefix(credential.Token().Reveal(), "k8s-aws-v1.") || life < time.Minute || life > time.Hour {
				t.Errorf("credential = %v, lives %v, want a k8s-aws-v1 token of some minutes", credential, life)
			}
		})
	}
}
