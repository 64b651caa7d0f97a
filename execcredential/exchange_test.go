package execcredential_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestInfo(t *testing.T) {
	cluster := &execcredential.Cluster{Server: "http://127.0.0.1:43177", TLSServerName: "sn"}
	full := &execcredential.Cluster{
		Server: "https://s", TLSServerName: "n", InsecureSkipTLSVerify: true, CertificateAuthorityData: []byte("ca"),
		ProxyURL: redact.New("http://p"), DisableCompression: true, Config: redact.NewBytes([]byte(`{"b":[1,"x"],"a":null}`)),
	}
	cases := []struct {
		name, version string
		provide       bool
		cluster       *execcredential.Cluster
		interactive   bool
		want          string
	}{
		{
			"ECR-1 ECR-24 version v1 without cluster, byte for byte as client-go", execcredential.V1, false, cluster, false,
			`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}` + "\n",
		},
		{
			"ECR-4 ECR-24 cluster when it is asked for; config is null when absent", execcredential.V1, true, cluster, true,
			`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"http://127.0.0.1:43177","tls-server-name":"sn","config":null},"interactive":true}}` + "\n",
		},
		{
			"ECR-1 ECR-4 version v1beta1 has the cluster, every field, the extension unchanged", execcredential.V1Beta1, true, full, false,
			`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{"cluster":{"server":"https://s","tls-server-name":"n","insecure-skip-tls-verify":true,"certificate-authority-data":"Y2E=","proxy-url":"http://p","disable-compression":true,"config":{"b":[1,"x"],"a":null}},"interactive":false}}` + "\n",
		},
		{
			"ECR-1 ECR-4 version v1alpha1 has no cluster", execcredential.V1Alpha1, true, full, true,
			`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1alpha1","spec":{"interactive":true}}` + "\n",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := execcredential.Info(execcredential.ExecConfig{APIVersion: c.version, ProvideClusterInfo: c.provide}, c.cluster, c.interactive)
			if err != nil || got != c.want {
				t.Errorf("Info = %s, %v\nwant   %s", got, err, c.want)
			}
		})
	}
	t.Run("ECR-4 an extension that is no JSON is an error", func(t *testing.T) {
		_, err := execcredential.Info(execcredential.ExecConfig{APIVersion: execcredential.V1, ProvideClusterInfo: true},
			&execcredential.Cluster{Config: redact.NewBytes([]byte("{"))}, false)
		if err == nil {
			t.Error("Info = nil error, want one")
		}
	})
}

func TestEnviron(t *testing.T) {
	host := []string{"A=host", "B=host", "KUBERNETES_EXEC_INFO=host"}
	config := execcredential.ExecConfig{Env: []execcredential.EnvVar{{Name: "B", Value: redact.New("config")}, {Name: "KUBERNETES_EXEC_INFO", Value: redact.New("config")}}}
	got := execcredential.Environ(host, config, "info")
	t.Run("ECR-3 the host's, then the configured, then the information, which is last", func(t *testing.T) {
		want := []string{
			"A=host", "B=host", "KUBERNETES_EXEC_INFO=host", "B=config", "KUBERNETES_EXEC_INFO=config", "KUBERNETES_EXEC_INFO=info",
		}
		if !slices.Equal(redact.Reveal(got), want) {
			t.Errorf("Environ = %q, want %q", redact.Reveal(got), want)
		}
	})
	t.Run("the result does not alias the host's", func(t *testing.T) {
		got[0] = redact.New("changed")
		if host[0] != "A=host" {
			t.Errorf("host[0] = %q, want A=host", host[0])
		}
	})
}

func TestEncodeAnswer(t *testing.T) {
	expires := time.Date(2030, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	status := execcredential.Status{Token: redact.New("t"), ExpirationTimestamp: &expires}
	for _, version := range []string{execcredential.V1, execcredential.V1Beta1, execcredential.V1Alpha1} {
		t.Run("ECR-1 a client reads what a plugin writes in "+version, func(t *testing.T) {
			text, err := execcredential.EncodeAnswer(version, status)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q,"spec":{"interactive":false},"status":{"expirationTimestamp":"2030-01-02T02:04:05Z","token":"t"}}`, version) + "\n"
			if text != want {
				t.Errorf("EncodeAnswer = %s, want %s", text, want)
			}
			credential, err := execcredential.ParseAnswer([]byte(text), version)
			if err != nil || credential.Token().Reveal() != "t" || !credential.Expires().Equal(expires.Truncate(time.Second)) {
				t.Errorf("ParseAnswer(EncodeAnswer) = %v, %v", credential, err)
			}
		})
	}
}
