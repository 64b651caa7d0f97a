package kubernetes

import (
	"net"
	"os"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
)

// refer makes the API server's command the reference API server's, which knows a part of the flags. It serves on
// loopback alone.
func refer(c *Command) {
	c.Program = "lanyard-apiserver"
	c.Keep("secure-port", "tls-cert-file", "tls-private-key-file", "client-ca-file", "kubelet-certificate-authority",
		"kubelet-client-certificate", "kubelet-client-key", "service-account-issuer", "service-account-signing-key-file",
		"audit-policy-file", "audit-log-path")
	c.Set("bind-address", loopback)
}

// referenceCommand is the reference kubelet's, which serves on loopback alone.
func (w *Worker) referenceCommand(kubeconfig string) (Command, error) {
	serving, err := w.cluster.authority.Server(loopback, "localhost", w.Name)
	certificate, key, err := writePair(w.dir, "serving", serving, err)
	if err != nil {
		return Command{}, err
	}
	config := kubelet.Config{
		NodeName: w.Name, Kubeconfig: kubeconfig, RootDirectory: filepath.Join(w.dir, "kubelet"), RuntimeEndpoint: "unix://" + w.Socket(),
		Address: net.JoinHostPort(loopback, strconv.Itoa(w.port)), TLSCertFile: certificate, TLSPrivateKeyFile: key,
		ClientCAFile: w.cluster.AuthorityFile(), TrustedExecUsers: []string{kubeletClientUser}, FeatureGates: map[string]bool{},
	}
	w.options.Reference(&config)
	text, err := yaml.Marshal(config)
	if err != nil {
		return Command{}, err
	}
	file := filepath.Join(w.dir, "kubelet.yaml")
	return Command{Program: "lanyard-kubelet", Flags: []string{"--config=" + file}}, os.WriteFile(file, text, 0o644)
}
