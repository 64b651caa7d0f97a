package kubeconfig

import (
	"encoding/json"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

// wireConfig is Config as it stands in a file, secrets in clear.
type wireConfig struct {
	Kind           string          `json:"kind,omitempty"`
	APIVersion     string          `json:"apiVersion,omitempty"`
	Preferences    json.RawMessage `json:"preferences,omitempty"`
	Clusters       []NamedCluster  `json:"clusters"`
	Users          []wireNamedUser `json:"users"`
	Contexts       []NamedContext  `json:"contexts"`
	CurrentContext string          `json:"current-context"`
	Extensions     []Extension     `json:"extensions,omitempty"`
}

type wireNamedUser struct {
	Name string   `json:"name"`
	User wireUser `json:"user"`
}

type wireUser struct {
	ClientCertificate     string                     `json:"client-certificate,omitempty"`
	ClientCertificateData []byte                     `json:"client-certificate-data,omitempty"`
	ClientKey             string                     `json:"client-key,omitempty"`
	ClientKeyData         []byte                     `json:"client-key-data,omitempty"`
	Token                 string                     `json:"token,omitempty"`
	TokenFile             string                     `json:"tokenFile,omitempty"`
	As                    string                     `json:"as,omitempty"`
	AsUID                 string                     `json:"as-uid,omitempty"`
	AsGroups              []string                   `json:"as-groups,omitempty"`
	AsUserExtra           map[string][]string        `json:"as-user-extra,omitempty"`
	Username              string                     `json:"username,omitempty"`
	Password              string                     `json:"password,omitempty"`
	AuthProvider          json.RawMessage            `json:"auth-provider,omitempty"`
	Exec                  *execcredential.ExecConfig `json:"exec,omitempty"`
	Extensions            []Extension                `json:"extensions,omitempty"`
}

func (w wireConfig) config() *Config {
	config := &Config{
		Clusters: w.Clusters, Contexts: w.Contexts, CurrentContext: w.CurrentContext,
		Extensions: w.Extensions, Preferences: w.Preferences,
	}
	for _, entry := range w.Users {
		config.Users = append(config.Users, NamedUser{Name: entry.Name, User: entry.User.user()})
	}
	return config
}

func (w wireUser) user() User {
	if string(w.AuthProvider) == "null" {
		w.AuthProvider = nil
	}
	return User{
		ClientCertificate: w.ClientCertificate, ClientCertificateData: w.ClientCertificateData,
		ClientKey: w.ClientKey, ClientKeyData: redact.New(string(w.ClientKeyData)),
		Token: redact.New(w.Token), TokenFile: w.TokenFile,
		Username: w.Username, Password: redact.New(w.Password),
		Impersonate:  Impersonation{Name: w.As, UID: w.AsUID, Groups: w.AsGroups, Extra: w.AsUserExtra},
		AuthProvider: redact.New(string(w.AuthProvider)),
		Exec:         w.Exec, Extensions: w.Extensions,
	}
}

func (c *Config) wire() wireConfig {
	wire := wireConfig{
		Kind: "Config", APIVersion: "v1", Preferences: c.Preferences,
		Clusters: c.Clusters, Contexts: c.Contexts, CurrentContext: c.CurrentContext, Extensions: c.Extensions,
		Users: []wireNamedUser{},
	}
	for _, entry := range c.Users {
		wire.Users = append(wire.Users, wireNamedUser{Name: entry.Name, User: entry.User.wire()})
	}
	return wire
}

func (u User) wire() wireUser {
	return wireUser{
		ClientCertificate: u.ClientCertificate, ClientCertificateData: u.ClientCertificateData,
		ClientKey: u.ClientKey, ClientKeyData: []byte(u.ClientKeyData.Reveal()),
		Token: u.Token.Reveal(), TokenFile: u.TokenFile,
		Username: u.Username, Password: u.Password.Reveal(),
		As: u.Impersonate.Name, AsUID: u.Impersonate.UID, AsGroups: u.Impersonate.Groups, AsUserExtra: u.Impersonate.Extra,
		AuthProvider: json.RawMessage(u.AuthProvider.Reveal()),
		Exec:         u.Exec, Extensions: u.Extensions,
	}
}
