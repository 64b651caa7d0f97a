package kubelet

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/credprovider/pulled"
	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// Config is what a kubelet is told: its fields are the keys of the configuration
// file, and /configz shows it. It holds no secret, only where secrets are.
type Config struct {
	// NodeName is the node's name.
	NodeName string `json:"nodeName"`
	// Kubeconfig is the file with the API server's address and the node's credentials.
	Kubeconfig string `json:"kubeconfig"`
	// RootDirectory holds the pods' volumes and logs and the records of pulled images.
	RootDirectory string `json:"rootDirectory"`
	// RuntimeEndpoint is the runtime's socket, as unix:///path.
	RuntimeEndpoint string `json:"containerRuntimeEndpoint"`
	// ImageEndpoint is the image service's socket; empty is the runtime's.
	ImageEndpoint string `json:"imageServiceEndpoint,omitempty"`
	// Address is where the API is served, a loopback address with a port; port 0 takes a free one.
	Address string `json:"address"`
	// TLSCertFile and TLSPrivateKeyFile are the serving certificate.
	TLSCertFile       string `json:"tlsCertFile"`
	TLSPrivateKeyFile string `json:"tlsPrivateKeyFile"`
	// ClientCAFile signs the client certificates that are accepted.
	ClientCAFile string `json:"clientCAFile"`
	// Authorization says who decides about requests; empty is Webhook.
	Authorization AuthorizationMode `json:"authorizationMode,omitempty"`
	// CacheAuthorizedTTL and CacheUnauthorizedTTL are how long answers are remembered; 0 is 5m and 30s, negative not at
	// all.
	CacheAuthorizedTTL   metav1.Duration `json:"cacheAuthorizedTTL,omitempty"`
	CacheUnauthorizedTTL metav1.Duration `json:"cacheUnauthorizedTTL,omitempty"`
	// HardenedVerbs makes exec, attach, run and portForward ask for "create" whatever the method.
	HardenedVerbs bool `json:"hardenedVerbs,omitempty"`
	// EmulatedMinor is the Kubernetes minor version whose gates and tables apply; 0 is the newest known, and a newer
	// one is treated as that and logged.
	EmulatedMinor int `json:"emulatedMinor,omitempty"`
	// FeatureGates are gates by name, beside their defaults.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// RequireExecEnvSupport refuses an exec that carries an environment to a runtime that would lose it.
	RequireExecEnvSupport bool `json:"requireExecEnvSupport,omitempty"`
	// RuntimeClasses are the runtime handlers of the cluster's RuntimeClasses by name, since the reference API server has
	// no such objects. A pod of another class is rejected.
	RuntimeClasses map[string]string `json:"runtimeClasses,omitempty"`
	// TrustedExecUsers and TrustedExecGroups may send reserved environment names: the API server's client identity.
	TrustedExecUsers  []string `json:"trustedExecUsers,omitempty"`
	TrustedExecGroups []string `json:"trustedExecGroups,omitempty"`
	// ReserveKubernetesPrefix keeps every name that begins with KUBERNETES_ from other callers, not the KEP's list
	// alone.
	ReserveKubernetesPrefix bool `json:"reserveKubernetesPrefix,omitempty"`
	// ImageCredentialProviderConfig is the credential providers' configuration, a file or a directory of files, and
	// ImageCredentialProviderBinDir the directory of their plugins. Both or neither.
	ImageCredentialProviderConfig string `json:"imageCredentialProviderConfig,omitempty"`
	ImageCredentialProviderBinDir string `json:"imageCredentialProviderBinDir,omitempty"`
	// ImagePullCredentialsVerificationPolicy says which images on the node a pod may use that did not pull them; empty
	// is NeverVerifyPreloadedImages. PreloadedImagesVerificationAllowlist are the images of
	// NeverVerifyAllowlistedImages.
	ImagePullCredentialsVerificationPolicy pulled.PolicyName `json:"imagePullCredentialsVerificationPolicy,omitempty"`
	PreloadedImagesVerificationAllowlist   []string          `json:"preloadedImagesVerificationAllowlist,omitempty"`
	// SyncFrequency is how often the runtime is asked what changed; 0 is half a second.
	SyncFrequency metav1.Duration `json:"syncFrequency,omitempty"`
	// RestartBackoff is the first wait of a container that ends again and again; 0 is ten seconds.
	RestartBackoff metav1.Duration `json:"restartBackoff,omitempty"`
}

// AuthorizationMode is who decides about requests.
type AuthorizationMode string

// The modes of the kubelet's own configuration.
const (
	Webhook     AuthorizationMode = "Webhook"     // the API server, by SubjectAccessReview
	AlwaysAllow AuthorizationMode = "AlwaysAllow" // nobody: every authenticated request passes
)

// LoadConfig reads a configuration file, YAML or JSON. An unknown key is an error.
func LoadConfig(file string) (Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if err := yaml.UnmarshalStrict(bytes.TrimSpace(data), &c); err != nil {
		return Config{}, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return c, nil
}

// Validate returns every fault at once.
func (c Config) Validate() error {
	var faults []error
	need := func(key, value string) {
		if value == "" {
			faults = append(faults, fmt.Errorf("%s: required", key))
		}
	}
	need("nodeName", c.NodeName)
	need("kubeconfig", c.Kubeconfig)
	need("rootDirectory", c.RootDirectory)
	need("containerRuntimeEndpoint", c.RuntimeEndpoint)
	need("tlsCertFile", c.TLSCertFile)
	need("tlsPrivateKeyFile", c.TLSPrivateKeyFile)
	need("clientCAFile", c.ClientCAFile)
	if (c.ImageCredentialProviderConfig == "") != (c.ImageCredentialProviderBinDir == "") {
		faults = append(faults, errors.New("imageCredentialProviderConfig and imageCredentialProviderBinDir: one without the other"))
	}
	if _, err := c.pullPolicy(); err != nil {
		faults = append(faults, err)
	}
	if err := c.checkAddress(); err != nil {
		faults = append(faults, err)
	}
	pace := func(key string, d metav1.Duration) {
		if d.Duration < 0 {
			faults = append(faults, fmt.Errorf("%s: %v is negative", key, d.Duration))
		}
	}
	pace("syncFrequency", c.SyncFrequency)
	pace("restartBackoff", c.RestartBackoff)
	if c.Authorization != "" && c.Authorization != Webhook && c.Authorization != AlwaysAllow {
		faults = append(faults, fmt.Errorf("authorizationMode: %q is neither Webhook nor AlwaysAllow", c.Authorization))
	}
	return errors.Join(faults...)
}

// checkAddress keeps the API on loopback: the kubelet is a reference, not for a network.
func (c Config) checkAddress() error {
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		return fmt.Errorf("address: %q is not host:port", c.Address)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("address: %q is not a loopback address", c.Address)
	}
	return nil
}

// minor is a known version, or one that is too old, which the gates refuse.
func (c Config) minor() int {
	if c.EmulatedMinor == 0 || c.EmulatedMinor > gates.MaxMinor {
		return gates.MaxMinor
	}
	return c.EmulatedMinor
}

func (c Config) reserved() execaudit.Reserved {
	if c.ReserveKubernetesPrefix {
		return execaudit.ReservedPrefix
	}
	return execaudit.ReservedList
}

func (c Config) pullPolicy() (pulled.Policy, error) {
	return pulled.NewPolicy(c.ImagePullCredentialsVerificationPolicy, c.PreloadedImagesVerificationAllowlist)
}
