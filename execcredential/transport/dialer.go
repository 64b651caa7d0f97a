package transport

import (
	"crypto/tls"
	"net/http"
	"sync/atomic"
)

// WrapDialer returns a round tripper over a base that dials for itself, as one that upgrades connections does: one
// request at a time. Certificates are presented through config, the TLS configuration that base dials with, whose
// GetClientCertificate is set here. With a nil config a request for which there is a certificate is [ErrNoTLS].
func (s *Source) WrapDialer(base http.RoundTripper, config *tls.Config) *RoundTripper {
	rt := s.newRoundTripper(base)
	if config != nil {
		rt.dials = &dialCertificate{}
		config.GetClientCertificate = rt.dials.get
	}
	return rt
}

// dialCertificate is the certificate that a base presents which dials for itself.
type dialCertificate struct {
	identity atomic.Pointer[tls.Certificate]
}

func (d *dialCertificate) present(identity *tls.Certificate) { d.identity.Store(identity) }

// get is for [tls.Config]: no certificate is an empty one.
func (d *dialCertificate) get(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if identity := d.identity.Load(); identity != nil {
		return identity, nil
	}
	return &tls.Certificate{}, nil
}
