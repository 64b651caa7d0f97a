// Package loginlab is what the tests of execcredential share: a certificate authority, a TLS server, and plugins that
// are real processes.
package loginlab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// Authority is a throw-away certificate authority.
type Authority struct {
	// PEM is its certificate.
	PEM []byte

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      atomic.Int64
}

// NewAuthority makes one.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	a.serial.Store(1)
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	must(t, err)
	a.certificate, err = x509.ParseCertificate(der)
	must(t, err)
	a.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

// Client issues a client certificate for name, valid for a lifetime that began at notBefore.
func (a *Authority) Client(t testing.TB, name string, notBefore time.Time, lifetime time.Duration) (certificate, key string) {
	t.Helper()
	return a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: notBefore, NotAfter: notBefore.Add(lifetime),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// Server serves the handler over TLS with HTTP/2, on loopback, and asks for client certificates of this authority
// without wanting one.
func (a *Authority) Server(t testing.TB, handler http.Handler) *httptest.Server {
	t.Helper()
	certificate, key := a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	must(t, err)
	clients := x509.NewCertPool()
	clients.AddCert(a.certificate)
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: clients}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func (a *Authority) issue(t testing.TB, template *x509.Certificate) (certificate, key string) {
	t.Helper()
	template.SerialNumber = big.NewInt(a.serial.Add(1))
	template.KeyUsage = x509.KeyUsageDigitalSignature
	private := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	must(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return key
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
