package bridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// apiServerName is whom the webhook's caller is to be by its certificate.
const apiServerName = "kube-apiserver-webhook-client"

// admissionConfiguration has the API server show a certificate to the webhooks of an address; an administrator writes
// such a file where the API server is theirs to configure.
const admissionConfiguration = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: MutatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %[1]q}
- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %[1]q}
`

// showCertificate adds the configuration to the API server's command.
func showCertificate(c *kubernetes.Cluster, command *kubernetes.Command) error {
	pair, err := c.Authority().Client(apiServerName)
	if err != nil {
		return err
	}
	credentials, file := filepath.Join(c.Dir(), "webhooks.kubeconfig"), filepath.Join(c.Dir(), "admission.yaml")
	config := clientcmdapi.NewConfig()
	config.AuthInfos[webhookAddress] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.Cert, ClientKeyData: pair.Key}
	command.Set("admission-control-config-file", file)
	return errors.Join(
		clientcmd.WriteToFile(*config, credentials),
		os.WriteFile(file, fmt.Appendf(nil, admissionConfiguration, credentials), 0o600),
	)
}
