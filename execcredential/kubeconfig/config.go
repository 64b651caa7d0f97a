package kubeconfig

import (
	"encoding/json"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

// Config is the content of a kubeconfig, in the order of the file. Every field that kubectl knows is kept, so that
// reading and writing loses nothing but comments and keys that kubectl drops as well.
type Config struct {
	Clusters       []NamedCluster
	Users          []NamedUser
	Contexts       []NamedContext
	CurrentContext string
	Extensions     []Extension
	// Preferences is the JSON value of a field that kubectl no longer uses; nil when absent.
	Preferences json.RawMessage
}

// NamedCluster is an entry of clusters.
type NamedCluster struct {
	Name    string  `json:"name"`
	Cluster Cluster `json:"cluster"`
}

// Cluster says how to reach a cluster.
type Cluster struct {
	Server                   string      `json:"server"`
	TLSServerName            string      `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool        `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthority     string      `json:"certificate-authority,omitempty"`
	CertificateAuthorityData []byte      `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string      `json:"proxy-url,omitempty"`
	DisableCompression       bool        `json:"disable-compression,omitempty"`
	Extensions               []Extension `json:"extensions,omitempty"`
}

// Extension is a named JSON value. The one of a cluster that is named [execcredential.ExtensionName] goes to the
// plugin.
type Extension struct {
	Name      string          `json:"name"`
	Extension json.RawMessage `json:"extension"`
}

// NamedContext is an entry of contexts.
type NamedContext struct {
	Name    string  `json:"name"`
	Context Context `json:"context"`
}

// Context joins a cluster, a user and a namespace.
type Context struct {
	Cluster    string      `json:"cluster"`
	User       string      `json:"user"`
	Namespace  string      `json:"namespace,omitempty"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// NamedUser is an entry of users.
type NamedUser struct {
	Name string
	User User
}

// User says how to log in. Formatting it shows no token, password or key.
type User struct {
	ClientCertificate     string
	ClientCertificateData []byte
	ClientKey             string
	ClientKeyData         redact.Text
	Token                 redact.Text
	TokenFile             string
	Username              string
	Password              redact.Text
	Impersonate           Impersonation
	// AuthProvider is the JSON value of the plugin mechanism before exec, nil when absent. It may hold tokens.
	AuthProvider redact.Text
	Exec         *execcredential.ExecConfig
	Extensions   []Extension
}

// Impersonation is whom the user acts as.
type Impersonation = execcredential.Impersonation
