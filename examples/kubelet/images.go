package kubelet

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/featuregate"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/examples/kubelet/metrics"
	"github.com/lanyard-dev/lanyard/examples/kubelet/puller"
)

// imagePuller reads the credential providers' configuration, which counts until the
// kubelet is started anew, and opens the records of pulled images.
func (k *Kubelet) imagePuller(client kubernetes.Interface, gate featuregate.FeatureGate, meters *metrics.Kubelet, events record.EventRecorder) (*puller.Puller, error) {
	policy, err := k.config.pullPolicy()
	if err != nil {
		return nil, err
	}
	accounts := puller.Accounts{Client: client}
	o := puller.Options{Images: k.runtime.images, Events: events, Accounts: accounts, Policy: policy, Log: k.log}
	if o.Pool, err = k.credentialProviders(client, gate, meters, accounts); err != nil {
		return nil, fmt.Errorf("credential providers: %w", err)
	}
	if gate.Enabled(gates.EnsureSecretPulledImages) {
		if o.Records, err = pulled.Open(k.config.RootDirectory, pulled.Options{}); err != nil {
			return nil, err
		}
	}
	return puller.New(o), nil
}

// credentialProviders returns nil where none are configured.
func (k *Kubelet) credentialProviders(client kubernetes.Interface, gate featuregate.FeatureGate, meters *metrics.Kubelet, accounts puller.Accounts) (*provider.Pool, error) {
	if k.config.ImageCredentialProviderConfig == "" {
		return nil, nil
	}
	recorder := metrics.NewCredentials()
	meters.Register(recorder.Collectors()...)
	return provider.Open(k.config.ImageCredentialProviderConfig, k.config.ImageCredentialProviderBinDir, provider.Options{
		Gates:    credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: gate.Enabled(gates.ServiceAccountTokenForPlugins)},
		Accounts: accounts,
		Tokens:   puller.Tokens{Client: client},
		Recorder: recorder,
	})
}
