package execcredential

import (
	"encoding/json"
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

// ExecCredential is the object that travels both ways: with Spec to the plugin, with Status back.
//
// Encoding it with encoding/json redacts the secrets in Status; a plugin's answer is encoded by [EncodeAnswer].
type ExecCredential struct {
	Kind       string  `json:"kind,omitempty"`
	APIVersion string  `json:"apiVersion,omitempty"`
	Spec       Spec    `json:"spec"`
	Status     *Status `json:"status,omitempty"`
}

// Spec is what the client tells the plugin.
type Spec struct {
	// Cluster is nil unless the configuration asks for cluster information and the version has the field.
	Cluster *Cluster `json:"cluster,omitempty"`
	// Interactive says whether standard input was handed to the plugin. It is always encoded.
	Interactive bool `json:"interactive"`
}

// Cluster is what a plugin needs to reach the cluster that the client talks to.
//
// Field and JSON names are those of a kubeconfig's cluster, without the file form of the certificate authority: its
// content travels as bytes (KEP-541, Provider input format). DisableCompression is in the published API, not in the KEP's text.
type Cluster struct {
	// Server is the address of the cluster, https://host:port.
	Server string `json:"server"`
	// TLSServerName is the name to expect in the server's certificate; empty is the host of Server.
	TLSServerName string `json:"tls-server-name,omitempty"`
	// InsecureSkipTLSVerify leaves the server's certificate unchecked.
	InsecureSkipTLSVerify bool `json:"insecure-skip-tls-verify,omitempty"`
	// CertificateAuthorityData holds PEM certificates; empty is the system's roots.
	CertificateAuthorityData []byte `json:"certificate-authority-data,omitempty"`
	// ProxyURL is the proxy for all requests to the cluster; empty is none.
	ProxyURL string `json:"proxy-url,omitempty"`
	// DisableCompression asks for responses without gzip.
	DisableCompression bool `json:"disable-compression,omitempty"`
	// Config is the JSON value of the cluster extension [ExtensionName], passed on unchanged. Nil is encoded as null.
	Config json.RawMessage `json:"config"`
}

// Status is the plugin's answer as it was written, not yet checked. [ParseAnswer] checks it.
type Status struct {
	// ExpirationTimestamp is when the client has to ask again; nil is never.
	ExpirationTimestamp *time.Time `json:"expirationTimestamp,omitempty"`
	// Token is a bearer token.
	Token redact.Text `json:"token,omitzero"`
	// ClientCertificateData holds PEM certificates: the client's, then its intermediates.
	ClientCertificateData string `json:"clientCertificateData,omitempty"`
	// ClientKeyData is the PEM key of the certificate.
	ClientKeyData redact.Text `json:"clientKeyData,omitzero"`
}

// answerStatus is Status on the wire.
type answerStatus struct {
	ExpirationTimestamp *timestamp `json:"expirationTimestamp,omitempty"`
	Token               string     `json:"token,omitempty"`
	ClientCertificate   string     `json:"clientCertificateData,omitempty"`
	ClientKey           string     `json:"clientKeyData,omitempty"`
}

func (w *answerStatus) status() *Status {
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
