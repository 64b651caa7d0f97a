package kubeconfig

import (
	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

// Config is the content of a kubeconfig, in the order of the file. Every field that kubectl knows is kept, so that
// reading and writing loses nothing but comments and keys that kubectl drops as well. Printing, encoding and logging it
// show no secret; [Config.Encode] writes them.
type Config struct {
	Clusters       []NamedCluster
	Users          []NamedUser
	Contexts       []NamedContext
	CurrentContext string
	Extensions     []Extension
	// Preferences is the JSON value of a field that kubectl no longer uses; empty when absent. It is not shown.
	Preferences redact.Bytes
}

// NamedCluster is an entry of clusters.
type NamedCluster struct {
	Name    string
	Cluster Cluster
}

// Cluster says how to reach a cluster.
type Cluster struct {
	Server                   string
	TLSServerName            string
	InsecureSkipTLSVerify    bool
	CertificateAuthority     string
	CertificateAuthorityData []byte
	// ProxyURL is not shown, because it may contain a password.
	ProxyURL           redact.Text
	DisableCompression bool
	Extensions         []Extension
}

// Extension is a named JSON value, which is not shown. The one of a cluster that is named
// [execcredential.ExtensionName] goes to the plugin.
type Extension struct {
	Name      string
	Extension redact.Bytes
}

// NamedContext is an entry of contexts.
type NamedContext struct {
	Name    string
	Context Context
}

// Context joins a cluster, a user and a namespace.
type Context struct {
	Cluster    string
	User       string
	Namespace  string
	Extensions []Extension
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
	Impersonate           execcredential.Impersonation
	// AuthProvider is the JSON value of the plugin mechanism before exec, nil when absent. It may hold tokens.
	AuthProvider redact.Text
	Exec         *execcredential.ExecConfig
	Extensions   []Extension
}
