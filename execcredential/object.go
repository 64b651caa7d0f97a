package execcredential

import (
	"encoding/json"
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

// ExecCredential is the object that travels both ways: with Spec to the plugin, with Status back. [Parse] reads it;
// [Info] and [EncodeAnswer] write the two that travel. Printing, encoding and logging it show no secret.
type ExecCredential struct {
	Kind       string
	APIVersion string
	Spec       Spec
	// Status is nil in what a client sends.
	Status *Status
}

// Spec is what the client tells the plugin.
type Spec struct {
	// Cluster is nil unless the configuration asks for cluster information and the version has the field.
	Cluster *Cluster
	// Interactive says whether standard input was handed to the plugin.
	Interactive bool
}

// Cluster is what a plugin needs to reach the cluster that the client talks to: a kubeconfig's cluster, without the
// file form of the certificate authority, whose content travels as bytes (KEP-541, Provider input format).
// DisableCompression is in the published API, not in the KEP's text.
type Cluster struct {
	// Server is the address of the cluster, https://host:port.
	Server string
	// TLSServerName is the name to expect in the server's certificate; empty is the host of Server.
	TLSServerName string
	// InsecureSkipTLSVerify leaves the server's certificate unchecked.
	InsecureSkipTLSVerify bool
	// CertificateAuthorityData contains PEM certificates; empty is the system's roots.
	CertificateAuthorityData []byte
	// ProxyURL is the proxy for all requests to the cluster; empty is none. It is not shown, because it may contain a
	// password.
	ProxyURL redact.Text
	// DisableCompression asks for responses without gzip.
	DisableCompression bool
	// Config is the JSON value of the cluster extension [ExtensionName], passed on unchanged; empty is sent as null. It
	// is the plugin's own configuration and not shown, because it may contain anything.
	Config redact.Bytes
}

// Status is the plugin's answer as it was written, not yet checked. [ParseAnswer] checks it.
type Status struct {
	// ExpirationTimestamp is when the client has to ask again; nil is never.
	ExpirationTimestamp *time.Time
	// Token is a bearer token.
	Token redact.Text
	// ClientCertificateData contains PEM certificates: the client's, then its intermediates.
	ClientCertificateData string
	// ClientKeyData is the PEM key of the certificate.
	ClientKeyData redact.Text
}

// wireObject is ExecCredential on the wire, with every field, so that a wrong type anywhere is an error as in
// client-go.
type wireObject struct {
	Kind       string      `json:"kind,omitempty"`
	APIVersion string      `json:"apiVersion,omitempty"`
	Spec       wireSpec    `json:"spec"`
	Status     *wireStatus `json:"status,omitempty"`
}

type wireSpec struct {
	Cluster     *wireCluster `json:"cluster,omitempty"`
	Interactive bool         `json:"interactive"`
}

type wireCluster struct {
	Server                   string          `json:"server"`
	TLSServerName            string          `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool            `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthorityData []byte          `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string          `json:"proxy-url,omitempty"`
	DisableCompression       bool            `json:"disable-compression,omitempty"`
	Config                   json.RawMessage `json:"config"`
}

// wire writes the secrets in clear.
func (c *Cluster) wire() *wireCluster {
	if c == nil {
		return nil
	}
	return &wireCluster{
		Server: c.Server, TLSServerName: c.TLSServerName, InsecureSkipTLSVerify: c.InsecureSkipTLSVerify,
		CertificateAuthorityData: c.CertificateAuthorityData, ProxyURL: c.ProxyURL.Reveal(),
		DisableCompression: c.DisableCompression, Config: c.Config.Reveal(),
	}
}

func (w *wireCluster) cluster() *Cluster {
	if w == nil {
		return nil
	}
	if string(w.Config) == "null" {
		w.Config = nil
	}
	return &Cluster{
		Server: w.Server, TLSServerName: w.TLSServerName, InsecureSkipTLSVerify: w.InsecureSkipTLSVerify,
		CertificateAuthorityData: w.CertificateAuthorityData, ProxyURL: redact.New(w.ProxyURL),
		DisableCompression: w.DisableCompression, Config: redact.NewBytes(w.Config),
	}
}

type wireStatus struct {
	ExpirationTimestamp *timestamp `json:"expirationTimestamp,omitempty"`
	Token               string     `json:"token,omitempty"`
	ClientCertificate   string     `json:"clientCertificateData,omitempty"`
	ClientKey           string     `json:"clientKeyData,omitempty"`
}

func (w *wireStatus) status() *Status {
	if w == nil {
		return nil
	}
	status := &Status{
		Token:                 redact.New(w.Token),
		ClientCertificateData: w.ClientCertificate,
		ClientKeyData:         redact.New(w.ClientKey),
	}
	if w.ExpirationTimestamp != nil && !w.ExpirationTimestamp.IsZero() {
		status.ExpirationTimestamp = &w.ExpirationTimestamp.Time
	}
	return status
}

// timestamp is an RFC 3339 time or null, as metav1.Time reads it. Its errors do not repeat the text, which could be
// a token in the wrong field.
type timestamp struct{ time.Time }

// UnmarshalJSON reads null as the zero time.
func (t *timestamp) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		t.Time = time.Time{}
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errTimestamp
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errTimestamp
	}
	t.Time = parsed
	return nil
}
