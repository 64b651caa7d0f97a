package execcredential_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	upstream "k8s.io/client-go/tools/auth/exec"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/pluginsdk"
	"github.com/lanyard-dev/lanyard/redact"
)

// TestMain makes this binary a plugin when it is started as one.
func TestMain(m *testing.M) {
	switch os.Getenv("PEER_PLUGIN") {
	case "":
		os.Exit(m.Run())
	case "pluginsdk":
		os.Exit(pluginsdk.Main(func(context.Context, pluginsdk.Request) (execcredential.Status, error) {
			return execcredential.Status{Token: redact.New("good")}, nil
		}, pluginsdk.Options{}))
	case "client-go":
		clientGoPlugin()
	}
}

// clientGoPlugin is a plugin made with client-go's helper.
func clientGoPlugin() {
	object, config, err := upstream.LoadExecCredentialFromEnv()
	if err != nil || config.Host == "" {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	version := object.GetObjectKind().GroupVersionKind().GroupVersion().String()
	fmt.Printf(`{"kind":"ExecCredential","apiVersion":%q,"status":{"token":"good"}}`, version)
}

// pair makes a client certificate with its key; nobody checks who signed it.
func pair(t testing.TB, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// plugin is a script that logs its input and prints the answer.
type plugin struct{ path, dir string }

func newPlugin(t testing.TB, body, answer string) *plugin {
	t.Helper()
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &plugin{path: filepath.Join(dir, "plugin"), dir: dir}
	script := "#!/bin/sh\nLAB='" + dir + "'\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" >>\"$LAB/info\"\necho run >>\"$LAB/runs\"\n" + body + "\nexec cat \"$LAB/answer\"\n"
	if err := os.WriteFile(p.path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p.answer(t, answer)
	return p
}

func (p *plugin) answer(t testing.TB, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, "answer"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// take returns what the script has logged under a name, and forgets it.
func (p *plugin) take(name string) string {
	path := filepath.Join(p.dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	_ = os.Remove(path)
	return string(data)
}

func (p *plugin) runs() int { return strings.Count(p.take("runs"), "\n") }

// answer returns an answer with the fields that are not empty.
func answer(version, kind string, status map[string]any) string {
	object := map[string]any{"apiVersion": version}
	if kind != "" {
		object["kind"] = kind
	}
	if status != nil {
		object["status"] = status
	}
	data, _ := json.Marshal(object)
	return string(data)
}
