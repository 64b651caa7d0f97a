package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

// ErrCertificateAuthority is the condition of certificate-authority-data without a PEM certificate.
var ErrCertificateAuthority = errors.New("certificate-authority-data contains no PEM certificate")

// ErrInsecureAuthority is the condition of a cluster with a certificate authority whose server is not to be checked
// against it.
var ErrInsecureAuthority = errors.New("certificate-authority-data and insecure-skip-tls-verify exclude each other")

// Base returns a transport that reaches the cluster: its roots, server name, proxy and compression. Without a proxy URL
// the proxy comes from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as in kubectl.
//
// Errors: [ErrCertificateAuthority]; [ErrInsecureAuthority], as kubectl refuses both together; a *url.Error for a proxy
// URL that does not parse.
func Base(cluster execcredential.Cluster) (*http.Transport, error) {
	config := &tls.Config{ServerName: cluster.TLSServerName, InsecureSkipVerify: cluster.InsecureSkipTLSVerify}
	if len(cluster.CertificateAuthorityData) > 0 && cluster.InsecureSkipTLSVerify {
		return nil, ErrInsecureAuthority
	}
	if len(cluster.CertificateAuthorityData) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(cluster.CertificateAuthorityData) {
			return nil, ErrCertificateAuthority
		}
	}
	proxy := http.ProxyFromEnvironment
	if !cluster.ProxyURL.IsEmpty() {
		parsed, err := url.Parse(cluster.ProxyURL.Reveal())
		if err != nil {
			return nil, fmt.Errorf("proxy-url: %w", withoutURL(err))
		}
		proxy = http.ProxyURL(parsed)
	}
	return &http.Transport{
		Proxy:               proxy,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		DisableCompression:  cluster.DisableCompression,
	}, nil
}

// withoutURL drops the URL from a parse error: it may hold a password.
func withoutURL(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return &url.Error{Op: parse.Op, URL: redact.Mark, Err: errors.New("not a URL")}
	}
	return err
}
