package kubelet_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
)

func load(t *testing.T, text string) (kubelet.Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubelet.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubelet.LoadConfig(file)
}

func TestLoadConfig(t *testing.T) {
	c, err := load(t, "nodeName: n1\ncacheAuthorizedTTL: 30s\nfeatureGates:\n  ExecEnvVar: true\n")
	if err != nil || c.NodeName != "n1" || c.CacheAuthorizedTTL.Duration.Seconds() != 30 || !c.FeatureGates["ExecEnvVar"] {
		t.Errorf("LoadConfig = %+v, %v", c, err)
	}
	for name, text := range map[string]string{"unknown key": "nodeNam: n1\n", "key twice": "nodeName: a\nnodeName: b\n"} {
		if _, err := load(t, text); err == nil {
			t.Errorf("LoadConfig with an %s = nil error", name)
		}
	}
}

func TestConfigFaultsComeTogether(t *testing.T) {
	c := kubelet.Config{Authorization: "Sometimes", Address: "0.0.0.0:10250", ImageCredentialProviderBinDir: "/bin"}
	c.SyncFrequency.Duration, c.RestartBackoff.Duration = -1, -1
	_, err := kubelet.New(c, nil)
	for _, part := range []string{
		"nodeName", "kubeconfig", "rootDirectory", "containerRuntimeEndpoint", "tlsCertFile", "tlsPrivateKeyFile", "clientCAFile",
		"imageCredentialProviderConfig", `address: "0.0.0.0:10250"`, "syncFrequency", "restartBackoff", `authorizationMode: "Sometimes"`,
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("New error = %v, want one that names %s", err, part)
		}
	}
}

func TestGatesAreCheckedAtStart(t *testing.T) {
	base := kubelet.Config{
		NodeName: "n1", Kubeconfig: "x", RootDirectory: "x", RuntimeEndpoint: "unix:///x", Address: "127.0.0.1:0",
		TLSCertFile: "x", TLSPrivateKeyFile: "x", ClientCAFile: "x",
	}
	if err := base.Validate(); err != nil {
		t.Fatal(err) // else every case would fail for that
	}
	for _, c := range []struct {
		name  string
		minor int
		gate  string
		want  string
	}{
		{"STK-8 GRP-16 the kubelet refuses SupplementalGroupsPolicy=false from 1.35", 35, "SupplementalGroupsPolicy", "SupplementalGroupsPolicy"},
		{"STK-8 the kubelet refuses KubeletFineGrainedAuthz=false from 1.36", 36, "KubeletFineGrainedAuthz", "KubeletFineGrainedAuthz"},
		{"STK-8 the kubelet refuses a gate that it does not know", 37, "ExecRequestID", "ExecRequestID"},
		{"STK-8 the kubelet refuses a version that is too old", 30, "ExecEnvVar", "minor version 30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := base
			config.EmulatedMinor, config.FeatureGates = c.minor, map[string]bool{c.gate: false}
			if _, err := kubelet.New(config, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v, want an error that names %s", err, c.want)
			}
		})
	}
	t.Run("KAZ-17 a newer version is treated as the newest known, and the log says so", func(t *testing.T) {
		var log bytes.Buffer
		config := base
		config.EmulatedMinor, config.FeatureGates = 99, map[string]bool{"KubeletFineGrainedAuthz": false}
		_, err := kubelet.New(config, slog.New(slog.NewTextHandler(&log, nil)))
		if err == nil || !strings.Contains(err.Error(), "KubeletFineGrainedAuthz") {
			t.Errorf("New = %v, want the gate that is locked in the newest", err)
		}
		if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "emulatedMinor=99 newest=37") {
			t.Errorf("log = %q, want both versions", text)
		}
	})
}
