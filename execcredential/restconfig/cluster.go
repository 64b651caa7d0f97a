package restconfig

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// ErrProxyURL is the condition of a proxy URL that does not parse. It is not repeated, since it may hold a password.
var ErrProxyURL = errors.New("proxy-url is not a URL")

// ToREST returns a configuration that reaches the cluster, anonymously: a plugin has no credential for it yet. The
// error is [ErrProxyURL].
func ToREST(cluster execcredential.Cluster) (*rest.Config, error) {
	config := &rest.Config{
		Host: cluster.Server,
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: cluster.InsecureSkipTLSVerify, ServerName: cluster.TLSServerName, CAData: cluster.CertificateAuthorityData,
		},
		DisableCompression: cluster.DisableCompression,
	}
	if !cluster.ProxyURL.IsEmpty() {
		proxy, err := url.Parse(cluster.ProxyURL.Reveal())
		if err != nil {
			return nil, ErrProxyURL
		}
		config.Proxy = http.ProxyURL(proxy)
	}
	return config, nil
}

// FromREST returns what a plugin is told about the cluster of a configuration: a certificate authority file is inlined,
// the proxy is the one that Proxy chooses for the host, and the plugin's own configuration is that of ExecProvider.
//
// Errors: those of reading the file, of Proxy, and of encoding an ExecProvider.Config that is not JSON.
func FromREST(config *rest.Config) (execcredential.Cluster, error) {
	cluster := execcredential.Cluster{
		Server:                   config.Host,
		TLSServerName:            config.ServerName,
		InsecureSkipTLSVerify:    config.Insecure,
		CertificateAuthorityData: config.CAData,
		DisableCompression:       config.DisableCompression,
	}
	var err error
	if len(cluster.CertificateAuthorityData) == 0 && config.CAFile != "" {
		if cluster.CertificateAuthorityData, err = os.ReadFile(config.CAFile); err != nil {
			return execcredential.Cluster{}, err
		}
	}
	if cluster.ProxyURL, err = proxyOf(config); err != nil {
		return execcredential.Cluster{}, err
	}
	if config.ExecProvider != nil {
		if cluster.Config, err = rawJSON(config.ExecProvider.Config); err != nil {
			return execcredential.Cluster{}, err
		}
	}
	return cluster, nil
}

func proxyOf(config *rest.Config) (redact.Text, error) {
	if config.Proxy == nil {
		return redact.Text{}, nil
	}
	request, err := http.NewRequest(http.MethodGet, config.Host, nil)
	if err != nil {
		return redact.Text{}, err
	}
	proxy, err := config.Proxy(request)
	if err != nil || proxy == nil {
		return redact.Text{}, err
	}
	return redact.New(proxy.String()), nil
}

// rawJSON returns an extension unchanged, as clientcmd has loaded it; empty for none.
func rawJSON(object runtime.Object) (redact.Bytes, error) {
	if object == nil {
		return redact.Bytes{}, nil
	}
	if unknown, ok := object.(*runtime.Unknown); ok {
		return redact.NewBytes(unknown.Raw), nil
	}
	data, err := json.Marshal(object)
	return redact.NewBytes(data), err
}
