package kubeconfig

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

// Method is how a user logs in.
type Method string

// The methods, in the order in which they win. A static one keeps the plugin from running.
const (
	// MethodToken is a static token, or a file that contains one.
	MethodToken Method = "token"
	// MethodBasic is a name and password.
	MethodBasic Method = "basic"
	// MethodCertificate is a static client certificate.
	MethodCertificate Method = "client-certificate"
	// MethodExec is a credential plugin.
	MethodExec Method = "exec"
	// MethodNone is anonymous.
	MethodNone Method = "none"
)

// Overrides are what flags and environment change about the cluster. Zero fields change nothing.
type Overrides struct {
	// Server replaces the address. It also drops the kubeconfig's TLS server name, which belongs to the old one.
	Server string
	// TLSServerName replaces the name in the server's certificate.
	TLSServerName string
	// InsecureSkipTLSVerify leaves the server's certificate unchecked and drops the certificate authority.
	InsecureSkipTLSVerify bool
	// CertificateAuthority is a file that replaces the certificate authority and asks for a check.
	CertificateAuthority string
	// ProxyURL replaces the proxy. It is not shown, because it may contain a password.
	ProxyURL redact.Text
	// DisableCompression asks for responses without gzip.
	DisableCompression bool
}

// Resolved is one context, resolved: where to go and how to log in. Printing, encoding and logging it show no secret.
type Resolved struct {
	// Context, ClusterName, UserName and Namespace are the names that were chosen.
	Context, ClusterName, UserName, Namespace string
	// Cluster is what the client will use and what a plugin is told: overrides applied, certificate authority inlined,
	// extension as Config.
	Cluster execcredential.Cluster
	// Method is how the client logs in.
	Method Method
	// Exec is the plugin, with its interactive mode defaulted and the user's impersonation, when Method is MethodExec;
	// else nil.
	Exec *execcredential.ExecConfig
	// User is the user's entry, for the static methods. A client of those has to act as User.Impersonate.
	User User
	// NotRun says why a configured plugin is not run; empty when it is, or when there is none.
	NotRun string
}

// String names the context, the server and the method, with control characters spelled out.
func (r *Resolved) String() string {
	return fmt.Sprintf("login to %q (%q) by %s", r.Context, r.Cluster.Server, r.Method)
}

// LogValue returns String.
func (r *Resolved) LogValue() slog.Value { return slog.StringValue(r.String()) }

// Resolve resolves a context; the empty name is the current one.
//
// A static token, name and password, or client certificate wins over exec, as in client-go. With a server that is not
// https no user's credential is used at all. Errors: *[EntryError] with [ErrNoEntry], [ErrNoServer], [ErrAmbiguous],
// [ErrNoKey], [ErrAuthProvider], [execcredential.ErrAuthProvider], the faults of [execcredential.ExecConfig.Validate]
// and [execcredential.Impersonation.Validate], or a proxy URL that does not parse; *[FileError] for a certificate
// authority file.
func (c *Config) Resolve(context string, overrides Overrides) (*Resolved, error) {
	if context == "" {
		context = c.CurrentContext
	}
	chosen, err := c.context(context)
	if err != nil {
		return nil, err
	}
	resolved := &Resolved{Context: context, ClusterName: chosen.Cluster, UserName: chosen.User, Namespace: chosen.Namespace}
	if err := c.resolveCluster(resolved, overrides); err != nil {
		return nil, err
	}
	return resolved, c.resolveUser(resolved)
}

func (c *Config) context(name string) (Context, error) {
	for _, entry := range c.Contexts {
		if entry.Name == name {
			return entry.Context, nil
		}
	}
	return Context{}, &EntryError{List: "contexts", Name: name, Err: ErrNoEntry}
}

func (c *Config) resolveCluster(resolved *Resolved, overrides Overrides) error {
	var entry *Cluster
	for i := range c.Clusters {
		if c.Clusters[i].Name == resolved.ClusterName {
			entry = &c.Clusters[i].Cluster
		}
	}
	if entry == nil {
		return &EntryError{List: "clusters", Name: resolved.ClusterName, Err: ErrNoEntry}
	}
	cluster := overrides.apply(*entry)
	if cluster.Server == "" {
		return &EntryError{List: "clusters", Name: resolved.ClusterName, Err: ErrNoServer}
	}
	if _, err := url.Parse(cluster.ProxyURL.Reveal()); err != nil {
		return &EntryError{List: "clusters", Name: resolved.ClusterName, Err: &SyntaxError{Reason: "proxy-url is not a URL"}}
	}
	authority, err := cluster.authority()
	if err != nil {
		return err
	}
	resolved.Cluster = execcredential.Cluster{
		Server: cluster.Server, TLSServerName: cluster.TLSServerName, InsecureSkipTLSVerify: cluster.InsecureSkipTLSVerify,
		CertificateAuthorityData: authority, ProxyURL: cluster.ProxyURL, DisableCompression: cluster.DisableCompression,
		Config: extension(cluster.Extensions),
	}
	return nil
}

func (o Overrides) apply(cluster Cluster) Cluster {
	if o.InsecureSkipTLSVerify || o.CertificateAuthority != "" {
		cluster.InsecureSkipTLSVerify = o.InsecureSkipTLSVerify
		cluster.CertificateAuthority, cluster.CertificateAuthorityData = o.CertificateAuthority, nil
	}
	if o.Server != "" || o.TLSServerName != "" {
		cluster.TLSServerName = o.TLSServerName
	}
	if o.Server != "" {
		cluster.Server = o.Server
	}
	if !o.ProxyURL.IsEmpty() {
		cluster.ProxyURL = o.ProxyURL
	}
	cluster.DisableCompression = cluster.DisableCompression || o.DisableCompression
	return cluster
}

// authority returns the certificate authority as bytes; data in the kubeconfig wins over a file.
func (c Cluster) authority() ([]byte, error) {
	if len(c.CertificateAuthorityData) > 0 || c.CertificateAuthority == "" {
		return c.CertificateAuthorityData, nil
	}
	file, err := os.Open(c.CertificateAuthority)
	if err != nil {
		return nil, &FileError{Path: c.CertificateAuthority, Err: err}
	}
	defer file.Close()
	data, err := readBounded(file)
	if err != nil {
		return nil, &FileError{Path: c.CertificateAuthority, Err: err}
	}
	return data, nil
}

func extension(extensions []Extension) redact.Bytes {
	for _, entry := range extensions {
		if entry.Name == execcredential.ExtensionName {
			return entry.Extension
		}
	}
	return redact.Bytes{}
}
