package configfile

import (
	"encoding/json"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

// wireConfig is a configuration as it is in a file. Its secrets are plain, so it never leaves this package.
type wireConfig struct {
	Kind       string         `json:"kind,omitempty"`
	APIVersion string         `json:"apiVersion,omitempty"`
	Providers  []wireProvider `json:"providers"`
}

type wireProvider struct {
	Name                 string                        `json:"name"`
	MatchImages          []string                      `json:"matchImages"`
	DefaultCacheDuration *credprovider.Duration        `json:"defaultCacheDuration"`
	APIVersion           string                        `json:"apiVersion"`
	Args                 []string                      `json:"args,omitempty"`
	Env                  []wireEnvVar                  `json:"env,omitempty"`
	TokenAttributes      *credprovider.TokenAttributes `json:"tokenAttributes,omitempty"`
}

type wireEnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Encode returns the configuration as a file: one line of JSON in the form of kubelet.config.k8s.io/v1, with kind and
// apiVersion as they are in config, and without origins. It contains arguments and environment values in plain text.
// [Read] reads it back.
func Encode(config credprovider.Config) ([]byte, error) {
	wire := wireConfig{Kind: config.Kind, APIVersion: config.APIVersion, Providers: make([]wireProvider, len(config.Providers))}
	for i, p := range config.Providers {
		wire.Providers[i] = wireProvider{
			Name: p.Name, MatchImages: p.MatchImages, DefaultCacheDuration: p.DefaultCacheDuration, APIVersion: p.APIVersion,
			Args: redact.Reveal(p.Args), TokenAttributes: p.TokenAttributes,
		}
		for _, e := range p.Env {
			wire.Providers[i].Env = append(wire.Providers[i].Env, wireEnvVar{e.Name, e.Value.Reveal()})
		}
	}
	data, err := json.Marshal(wire)
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

func (w wireConfig) config() credprovider.Config {
	config := credprovider.Config{Kind: w.Kind, APIVersion: w.APIVersion}
	for _, p := range w.Providers {
		provider := credprovider.Provider{
			Name: p.Name, MatchImages: p.MatchImages, DefaultCacheDuration: p.DefaultCacheDuration, APIVersion: p.APIVersion,
			Args: redact.Texts(p.Args...), TokenAttributes: p.TokenAttributes,
		}
		for _, e := range p.Env {
			provider.Env = append(provider.Env, credprovider.EnvVar{Name: e.Name, Value: redact.New(e.Value)})
		}
		config.Providers = append(config.Providers, provider)
	}
	return config
}
