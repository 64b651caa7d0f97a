package kubeconfig

import (
	"encoding/json"

	"github.com/lanyard-dev/lanyard/redact"
)

// wireConfig is Config as it stands in a file, secrets in clear.
type wireConfig struct {
	Kind           string             `json:"kind,omitempty"`
	APIVersion     string             `json:"apiVersion,omitempty"`
	Preferences    json.RawMessage    `json:"preferences,omitempty"`
	Clusters       []wireNamedCluster `json:"clusters"`
	Users          []wireNamedUser    `json:"users"`
	Contexts       []wireNamedContext `json:"contexts"`
	CurrentContext string             `json:"current-context"`
	Extensions     []wireExtension    `json:"extensions,omitempty"`
}

type wireNamedCluster struct {
	Name    string      `json:"name"`
	Cluster wireCluster `json:"cluster"`
}

type wireCluster struct {
	Server                   string          `json:"server"`
	TLSServerName            string          `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool            `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthority     string          `json:"certificate-authority,omitempty"`
	CertificateAuthorityData []byte          `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string          `json:"proxy-url,omitempty"`
	DisableCompression       bool            `json:"disable-compression,omitempty"`
	Extensions               []wireExtension `json:"extensions,omitempty"`
}

type wireNamedContext struct {
	Name    string      `json:"name"`
	Context wireContext `json:"context"`
}

type wireContext struct {
	Cluster    string          `json:"cluster"`
	User       string          `json:"user"`
	Namespace  string          `json:"namespace,omitempty"`
	Extensions []wireExtension `json:"extensions,omitempty"`
}

type wireExtension struct {
	Name      string          `json:"name"`
	Extension json.RawMessage `json:"extension"`
}

func (w wireConfig) config() *Config {
	config := &Config{
		CurrentContext: w.CurrentContext, Extensions: extensions(w.Extensions), Preferences: redact.NewBytes(w.Preferences),
	}
	for _, entry := range w.Clusters {
		config.Clusters = append(config.Clusters, NamedCluster{Name: entry.Name, Cluster: entry.Cluster.cluster()})
	}
	for _, entry := range w.Users {
		config.Users = append(config.Users, NamedUser{Name: entry.Name, User: entry.User.user()})
	}
	for _, entry := range w.Contexts {
		config.Contexts = append(config.Contexts, NamedContext{Name: entry.Name, Context: Context{
			Cluster: entry.Context.Cluster, User: entry.Context.User, Namespace: entry.Context.Namespace,
			Extensions: extensions(entry.Context.Extensions),
		}})
	}
	return config
}

func (w wireCluster) cluster() Cluster {
	return Cluster{
		Server: w.Server, TLSServerName: w.TLSServerName, InsecureSkipTLSVerify: w.InsecureSkipTLSVerify,
		CertificateAuthority: w.CertificateAuthority, CertificateAuthorityData: w.CertificateAuthorityData,
		ProxyURL: redact.New(w.ProxyURL), DisableCompression: w.DisableCompression, Extensions: extensions(w.Extensions),
	}
}

func extensions(wire []wireExtension) []Extension {
	var list []Extension
	for _, entry := range wire {
		list = append(list, Extension{Name: entry.Name, Extension: redact.NewBytes(entry.Extension)})
	}
	return list
}

func (c *Config) wire() wireConfig {
	wire := wireConfig{
		Kind: "Config", APIVersion: "v1", Preferences: c.Preferences.Reveal(),
		Clusters: []wireNamedCluster{}, Users: []wireNamedUser{}, Contexts: []wireNamedContext{},
		CurrentContext: c.CurrentContext, Extensions: wireExtensions(c.Extensions),
	}
	for _, entry := range c.Clusters {
		wire.Clusters = append(wire.Clusters, wireNamedCluster{Name: entry.Name, Cluster: entry.Cluster.wire()})
	}
	for _, entry := range c.Users {
		wire.Users = append(wire.Users, wireNamedUser{Name: entry.Name, User: entry.User.wire()})
	}
	for _, entry := range c.Contexts {
		wire.Contexts = append(wire.Contexts, wireNamedContext{Name: entry.Name, Context: wireContext{
			Cluster: entry.Context.Cluster, User: entry.Context.User, Namespace: entry.Context.Namespace,
			Extensions: wireExtensions(entry.Context.Extensions),
		}})
	}
	return wire
}

func (c Cluster) wire() wireCluster {
	return wireCluster{
		Server: c.Server, TLSServerName: c.TLSServerName, InsecureSkipTLSVerify: c.InsecureSkipTLSVerify,
		CertificateAuthority: c.CertificateAuthority, CertificateAuthorityData: c.CertificateAuthorityData,
		ProxyURL: c.ProxyURL.Reveal(), DisableCompression: c.DisableCompression, Extensions: wireExtensions(c.Extensions),
	}
}

func wireExtensions(list []Extension) []wireExtension {
	var wire []wireExtension
	for _, entry := range list {
		wire = append(wire, wireExtension{Name: entry.Name, Extension: entry.Extension.Reveal()})
	}
	return wire
}
