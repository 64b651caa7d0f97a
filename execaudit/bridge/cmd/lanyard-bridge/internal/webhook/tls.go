package webhook

import (
	"crypto/tls"
)

func parsePair(files [][]byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(files[0], files[1])
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// tlsConfig asks for a client's certificate where one is wanted and does not verify it: callers does, for each request,
// so that probes and strangers get an answer that says what is wrong.
func tlsConfig(pair *watched[*tls.Certificate], ask bool) *tls.Config {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(), nil },
	}
	if ask {
		config.ClientAuth = tls.RequestClientCert
	}
	return config
}
