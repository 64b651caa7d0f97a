package webhook

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// minSecretBytes is the length of the shortest secret path: 22 letters and digits have 128 bits.
const minSecretBytes = 22

// callers says who may call the webhook: everything that is configured must hold.
type callers struct {
	// authorities is nil where no client certificate is asked for.
	authorities *watched[*x509.CertPool]
	// names are the certificate's subject's or its DNS names; empty is any certificate of the authorities.
	names []string
	// paths are the digests of the secret paths; nil where there are none.
	paths *watched[[][sha256.Size]byte]
}

// Why a caller is turned away, as the metric says it.
const (
	strangerPath        = "path"
	strangerCertificate = "certificate"
)

// admit returns the handler that only lets callers through who may call, and hides the secret path from what is behind it.
// A wrong path is answered as one that is not there, which tells a guesser nothing.
func (c callers) admit(next http.Handler, stranger func(why string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.paths != nil {
			secret, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			if !knows(c.paths.get(), secret) {
				stranger(strangerPath)
				http.NotFound(w, r)
				return
			}
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = "/"+rest, ""
		}
		if c.authorities != nil && !c.known(r) {
			stranger(strangerCertificate)
			http.Error(w, "a client certificate of the API server is required", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known reports whether the connection has a client certificate that was verified and has one of the names. A
// connection outlives a change of the authorities, so the certificate is verified for each request.
func (c callers) known(r *http.Request) bool {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return false
	}
	leaf := r.TLS.PeerCertificates[0]
	between := x509.NewCertPool()
	for _, cert := range r.TLS.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: c.authorities.get(), Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err == nil && (len(c.names) == 0 || slices.Contains(c.names, leaf.Subject.CommonName) ||
		slices.ContainsFunc(leaf.DNSNames, func(name string) bool { return slices.Contains(c.names, name) }))
}

// knows compares digests, all of them, in constant time.
func knows(digests [][sha256.Size]byte, secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	found := 0
	for _, digest := range digests {
		found |= subtle.ConstantTimeCompare(sum[:], digest[:])
	}
	return found == 1
}

// parsePaths reads secret paths, one a line: two while one replaces the other. Only their digests are kept.
func parsePaths(files [][]byte) ([][sha256.Size]byte, error) {
	var digests [][sha256.Size]byte
	for line := range strings.Lines(string(files[0])) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(line) < minSecretBytes {
			return nil, errors.New("a secret path has at least 22 characters")
		}
		if strings.Trim(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return nil, errors.New("a secret path consists of letters, digits, - and _")
		}
		digests = append(digests, sha256.Sum256([]byte(line)))
	}
	if digests == nil {
		return nil, errors.New("the file has no secret path")
	}
	return digests, nil
}

func parseAuthorities(files [][]byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(files[0]) {
		return nil, errors.New("the file has no certificate in PEM")
	}
	return pool, nil
}
