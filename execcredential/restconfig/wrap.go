package restconfig

import (
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// FromExecConfig returns the configuration of a plugin as clientcmd has loaded it. The slices are copied.
func FromExecConfig(config *clientcmdapi.ExecConfig) execcredential.ExecConfig {
	converted := execcredential.ExecConfig{
		Command: config.Command, Args: slices.Clone(config.Args), APIVersion: config.APIVersion, InstallHint: config.InstallHint,
		ProvideClusterInfo: config.ProvideClusterInfo, InteractiveMode: execcredential.InteractiveMode(config.InteractiveMode),
	}
	for _, entry := range config.Env {
		converted.Env = append(converted.Env, execcredential.EnvVar{Name: entry.Name, Value: entry.Value})
	}
	return converted
}

// ToExecConfig returns the configuration of a plugin for client-go. The slices are copied.
func ToExecConfig(config execcredential.ExecConfig) *clientcmdapi.ExecConfig {
	converted := &clientcmdapi.ExecConfig{
		Command: config.Command, Args: slices.Clone(config.Args), APIVersion: config.APIVersion, InstallHint: config.InstallHint,
		ProvideClusterInfo: config.ProvideClusterInfo, InteractiveMode: clientcmdapi.ExecInteractiveMode(config.InteractiveMode),
	}
	for _, entry := range config.Env {
		converted.Env = append(converted.Env, clientcmdapi.ExecEnvVar{Name: entry.Name, Value: entry.Value})
	}
	return converted
}

// Wrap returns a copy of config whose requests log in through pool in place of client-go's own plugin runner, and the source that they use; close it
// when the clients are done.
//
// A configuration without ExecProvider, or with a static token, name and password, or certificate, which win, is copied as
// it is, and the source is nil. Config.WrapTransport stays in force; a wrapper that sets Authorization keeps the plugin from running. Errors:
// those of [FromREST], of [transport.Pool.Source] and of rest.TLSConfigFor.
func Wrap(config *rest.Config, pool *transport.Pool) (*rest.Config, *transport.Source, error) {
	wrapped := rest.CopyConfig(config)
	if config.ExecProvider == nil || isStatic(config) {
		return wrapped, nil, nil
	}
	cluster, err := FromREST(config)
	if err != nil {
		return nil, nil, err
	}
	base, err := baseOf(config)
	if err != nil {
		return nil, nil, err
	}
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, nil, err
	}
	source, err := pool.Source(FromExecConfig(config.ExecProvider), &cluster)
	if err != nil {
		return nil, nil, err
	}
	rt, err := source.RoundTripper(base)
	if err != nil {
		return nil, nil, err
	}
	wrapped.Host = address.String()
	wrapped.Transport = rt.OnlyTo(wrapped.Host)
	wrapped.TLSClientConfig = rest.TLSClientConfig{} // the transport has it; client-go refuses both
	wrapped.ExecProvider, wrapped.Proxy, wrapped.Dial = nil, nil, nil
	wrapped.DisableCompression = false
	return wrapped, source, nil
}

func isStatic(config *rest.Config) bool {
	return config.BearerToken != "" || config.BearerTokenFile != "" || config.Username != "" || config.Password != "" ||
		len(config.CertData) > 0 || config.CertFile != ""
}

// baseOf returns a transport with the configuration's roots, proxy, dialer and compression.
func baseOf(config *rest.Config) (*http.Transport, error) {
	anonymous := rest.AnonymousClientConfig(config)
	tlsConfig, err := rest.TLSConfigFor(anonymous)
	if err != nil {
		return nil, err
	}
	base := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		DialContext:         config.Dial,
		ForceAttemptHTTP2:   !slices.Equal(config.NextProtos, []string{"http/1.1"}),
		DisableCompression:  config.DisableCompression,
	}
	if config.Proxy != nil {
		base.Proxy = config.Proxy
	}
	if base.DialContext == nil {
		base.DialContext = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return base, nil
}
